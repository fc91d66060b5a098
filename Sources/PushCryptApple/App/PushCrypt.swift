#if canImport(UserNotifications) && canImport(Security) && !os(tvOS)
public import Foundation
public import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives
import UserNotifications

#if canImport(os)
import os
#endif

/// The app's part of sealed pushes, with a default for everything. It registers the device, opens what the extension couldn't,
/// and presents notifications.
///
/// ```
/// let pushes = PushCrypt.start(try appGroup(), configuration: sharedConfiguration) { try await backend.store($0) }
/// pushes.received(deviceToken)          at every start
/// pushes.signIn(as: user.id)            after a sign-in, and at every start while the user is signed in
/// try await pushes.signOut()
/// ```
/// Start it before the app has finished launching, and keep it: it is the delegate of the notification centre, which loses the tap
/// that started the app otherwise. Whenever the app becomes active, it does what is due (``refresh(isRequested:)``).
@MainActor public final class PushCrypt {
    /// The registration; nil if ``start(_:configuration:senderSet:responder:report:upload:)`` reported why there is none.
    public var registration: PushRegistration? { parts?.registration }
    /// What the user has to do, by the last registration: `updateApp` to read newer pushes, `unlock`.
    public private(set) var advice: [RecoveryAdvice.Step] = []
    /// Nil without the entitlement.
    private let group: AppGroup?
    private let parts: Parts?
    /// Why there are no parts.
    private let failure: (any Error)?
    private let report: @MainActor (any Error) -> Void
    /// The user who is signed in; nil for none.
    private var account: String?
    private var deviceToken: Data?
    /// Whether the backend has asked for the registration, which may have to wait for the device token.
    package private(set) var hasRequest = false
    /// The last call of ``openKept()``.
    private var opening: Task<Void, Never>?
    /// The refresh since the app became active, for tests.
    package private(set) var lastRefresh: Task<PushRegistration.Outcome?, Never>?

    private struct Parts {
        let group: AppGroup
        let configuration: ExtensionConfiguration
        let registration: PushRegistration
        let kept: KeptNotifications
        /// The centre doesn't retain it.
        let delegate: PushCryptNotificationDelegate

        @MainActor init(
            _ group: AppGroup, _ configuration: ExtensionConfiguration,
            _ senderSet: (@Sendable () async throws -> Data)?, _ responder: any NotificationResponder,
            _ upload: @escaping @Sendable (PushRegistration.Upload) async throws -> Void
        ) throws {
            (self.group, self.configuration) = (group, configuration)
            registration = PushRegistration(
                identity: DeviceIdentity(storage: group.keyring), folder: group.path(of: "registration"),
                senders: try senderSet.map { .init(pins: try group.senderPins(), fetch: $0) },
                store: group.store(.app), opener: configuration.opener, upload: upload)
            kept = KeptNotifications(configuration)
            delegate = PushCryptNotificationDelegate(group, responder, kept: kept)
        }
    }

    private struct DefaultResponder: NotificationResponder {}

    /// Makes the app's part, and sets the delegate of the notification centre. It never fails: what is missing, such as the app
    /// group in the entitlements, is reported, and the app runs without sealed pushes.
    ///
    /// - Parameters:
    ///   - group: what app and extension share.
    ///   - configuration: returns the configuration that the extension uses.
    ///   - senderSet: downloads the signed set of sender keys, for a configuration that trusts `group.senderPins()`; nil for another
    ///     trust.
    ///   - responder: presents notifications and receives taps; nil shows everything and leaves a tap to the system.
    ///   - report: receives each error once, such as that of a failed upload. The next call tries again. The default writes to the
    ///     system's log, subsystem `pushcrypt`, category `app`.
    ///   - upload: sends the record to your backend as the signed-in user; throws unless the backend has stored it.
    public static func start(
        _ group: @autoclosure () throws -> AppGroup,
        configuration: (AppGroup) throws -> ExtensionConfiguration,
        senderSet: (@Sendable () async throws -> Data)? = nil,
        responder: (any NotificationResponder)? = nil,
        report: @escaping @MainActor (any Error) -> Void = PushCrypt.log,
        upload: @escaping @Sendable (PushRegistration.Upload) async throws -> Void
    ) -> PushCrypt {
        PushCrypt(group, configuration, senderSet, responder, report, upload)
    }

    private init(
        _ makeGroup: () throws -> AppGroup, _ configuration: (AppGroup) throws -> ExtensionConfiguration,
        _ senderSet: (@Sendable () async throws -> Data)?, _ responder: (any NotificationResponder)?,
        _ report: @escaping @MainActor (any Error) -> Void,
        _ upload: @escaping @Sendable (PushRegistration.Upload) async throws -> Void
    ) {
        self.report = report
        var found: AppGroup?
        do {
            let group = try makeGroup()
            found = group
            parts = try Parts(group, configuration(group), senderSet, responder ?? DefaultResponder(), upload)
            failure = nil
        } catch { (parts, failure) = (nil, error) }
        group = found
        if let failure { report(failure) }
        guard let parts else { return }
        UNUserNotificationCenter.current().delegate = parts.delegate
        // Every app gets it, also one with scenes, whose delegate the system doesn't call.
        _ = NotificationCenter.default.addObserver(forName: .becameActive, object: nil, queue: nil) { [weak self] _ in
            MainActor.assumeIsolated { self?.becameActive() }
        }
    }

    private func becameActive() { lastRefresh = Task { await refresh() } }

    /// The system provided the device token: at every start of the app, and after a change.
    ///
    /// - Returns: the registration, which an app needn't wait for.
    @discardableResult public func received(_ deviceToken: Data) -> Task<PushRegistration.Outcome?, Never> {
        self.deviceToken = deviceToken
        return Task { await register() }
    }

    /// A user signed in, or is still signed in when the app starts. An app without users passes a constant text.
    ///
    /// - Parameter account: the user's id at your backend, which never changes. Only a digest of it is stored on the device.
    /// - Returns: the registration, which an app needn't wait for.
    @discardableResult public func signIn(as account: String) -> Task<PushRegistration.Outcome?, Never> {
        self.account = account
        return Task { await register() }
    }

    /// The user signs out: erases the keys, and what the user's notifications have left on the device. Tell your backend before,
    /// while the user is authenticated.
    ///
    /// - Throws: `DeviceKeyError` with `locked` before the first unlock after a start of the device. Then the keys are erased as soon
    ///   as the app becomes active, or by another call.
    public func signOut() async throws {
        (account, advice) = (nil, [])
        guard let parts else { return }
        do { try await parts.registration.signOut() } catch {
            // The keys may be locked; the notifications aren't.
            try? await parts.group.removeTraces()
            throw error
        }
        try await parts.group.removeTraces()
    }

    /// Does what is due: opens what the extension couldn't, renews keys and sender keys, uploads a changed registration, and removes
    /// notifications that have expired or were retracted. Call it in a background refresh, too.
    ///
    /// In a process that the system has just started in the background, the device token comes later: then only the sender keys are
    /// sure to be updated, and ``received(_:)`` does the rest.
    ///
    /// - Parameter isRequested: whether your backend asks for the registration, which it has lost: then it is uploaded again.
    /// - Returns: nil if the device token or the user is still unknown, and after an error, which was reported.
    @discardableResult public func refresh(isRequested: Bool = false) async -> PushRegistration.Outcome? {
        hasRequest = hasRequest || isRequested
        await openKept()
        return await register()
    }

    /// Returns the ids of the device's keys. Before a sign-out, tell your backend to delete the rows with them.
    ///
    /// - Throws: `DeviceKeyError` with `locked` before the first unlock, `failed`.
    public func keyIDs() async throws -> [KeyID] {
        guard let keyring = group?.keyring else { return [] }
        return try await DedicatedThread.value { try keyring.keyIDs() }
    }

    /// Makes the report of this device, for `pushcrypt diagnose --report`. It never fails: what is missing is in the report.
    public func deviceReport() async -> DeviceReport {
        let code = (failure as? ExtensionSetupError)?.code.name ?? "failed"
        let senders =
            parts?.configuration.opener.senders
            ?? .current { () throws(FailureClass) in throw FailureClass(rawValue: code) }
        let reason = failure.map { "\($0)" } ?? ""
        // It reads the keychain and the store.
        var report = await DedicatedThread.value { [group] in
            guard let group else {
                return DeviceReport(
                    topic: Bundle.containingApp.appIdentifier ?? "", unavailable: code, reason: reason)
            }
            return DeviceReport(
                topic: group.topic, keys: group.keyring, senders: senders, store: group.store(.app))
        }
        report.allowsAlerts = await SystemNotifications().settings().showsAlerts
        return report
    }

    /// Opens a push that the app receives itself, such as one with `content-available`: each message once.
    ///
    /// - Parameter userInfo: of `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    /// - Returns: what a trusted sender wrote; nil if the push can't be opened, or was opened before.
    public func open(_ userInfo: [AnyHashable: Any]) async -> [AnyHashable: Any]? {
        guard let parts else { return nil }
        let opened = await parts.configuration.opener.claiming(userInfo: userInfo, in: parts.group.store(.app))
        return (try? opened.get()).map { UserInfoJSON.dictionary($0.payload) }
    }

    private func register() async -> PushRegistration.Outcome? {
        guard let parts else { return nil }
        var outcome: PushRegistration.Outcome?
        // The backend may ask again while this call waits.
        let isRequested = hasRequest
        do {
            if let account, let deviceToken {
                outcome = try await parts.registration.register(
                    deviceToken: deviceToken, account: account, isRequested: isRequested)
                if isRequested { hasRequest = false }
                advice = outcome?.advice ?? []
                if let failure = outcome?.senderSetFailure { report(failure) }
            } else {
                if account == nil, try await parts.registration.completeSignOut() {
                    try await parts.group.removeTraces()
                }
                if let failure = try await parts.registration.updateSenderKeys() { report(failure) }
            }
        } catch let error as DeviceKeyError where error.code == .locked {
            // Nothing is lost: the app becomes active after the first unlock.
        } catch {
            report(error)
        }
        // The registration may have fetched what they need.
        await openKept()
        return outcome
    }

    /// One call after the other: at a start there are several.
    private func openKept() async {
        guard let parts else { return }
        let previous = opening
        let call = Task {
            await previous?.value
            await parts.kept.open()
            do { try await parts.group.removeDueNotifications() } catch { report(error) }
        }
        opening = call
        await call.value
    }

    /// Writes an error to the system's log. The errors of this package contain no secrets; another one's text is shown only on a
    /// device that is set up for development.
    public static func log(_ error: any Error) {
        #if canImport(os)
        let type = String(describing: type(of: error))
        Logger(subsystem: "pushcrypt", category: "app").error(
            "\(type, privacy: .public): \(String(describing: error))")
        #endif
    }
}

extension AppGroup {
    /// Removes what a user's notifications have left on the device: the notifications, also scheduled ones, the badge, the pictures
    /// of senders, and the choice of what is shown.
    ///
    /// - Throws: `CocoaError` for a folder that can't be removed, and the error of ``previewChoice``.
    public func removeTraces() async throws {
        let center = SystemNotifications()
        center.removeAllDelivered()
        center.removeAllPending()
        let avatars = folder.appendingPathComponent("avatars")
        if FileManager.default.fileExists(atPath: avatars.path) { try FileManager.default.removeItem(at: avatars) }
        try previewChoice.set(.everything)
        // The user may not allow badges.
        try? await setBadge(0)
    }
}

extension Notification.Name {
    /// `didBecomeActiveNotification` of the system's application class, without the framework that declares it: the extension
    /// links this module, too.
    fileprivate static let becameActive = Notification.Name(
        {
            #if os(macOS)
            "NSApplicationDidBecomeActiveNotification"
            #elseif os(watchOS)
            "WKApplicationDidBecomeActiveNotification"
            #else
            "UIApplicationDidBecomeActiveNotification"
            #endif
        }())
}
#endif
