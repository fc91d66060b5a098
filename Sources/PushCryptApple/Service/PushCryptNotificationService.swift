#if canImport(UserNotifications) && !os(tvOS)
import Dispatch
import Foundation
public import PushCryptExtension
import PushCryptPrimitives
public import UserNotifications

#if canImport(os)
import os
#endif

/// The notification service extension of an app whose pushes are sealed. Subclass it and override ``configure()``:
///
/// ```swift
/// final class NotificationService: PushCryptNotificationService {
///     override func configure() throws -> ExtensionConfiguration {
///         try ExtensionConfiguration(
///             topic: "com.example.app", keyring: keyring, senders: .pinned(senders),
///             fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))
///     }
/// }
/// ```
/// The system's handler is called exactly once for each push: with the restored content or, on any failure or if the time
/// runs out, with a placeholder. Restored text is never mixed with members of the outer payload.
///
/// The class is explicitly `nonisolated`, because the system calls it on any thread. So its subclasses are nonisolated too, also
/// in a target whose default isolation is `MainActor`.
nonisolated open class PushCryptNotificationService: UNNotificationServiceExtension {
    private let running = Locked<[ObjectIdentifier: PushDelivery]>([:])
    /// Tests replace it.
    var cache = ConfigurationCache.shared
    /// Makes the table that resolves loc-keys if the configuration has none. Tests replace it.
    var appStrings: @Sendable () -> any StringTable = { BundleStringTable() }
    /// Removes notifications if the configuration doesn't say what does. Tests replace it.
    var deliveredNotifications: any DeliveredNotifications = SystemNotifications()

    /// Returns how pushes are restored. It is called with the first push of a process, on its thread; the result is used for
    /// all later pushes.
    ///
    /// Don't wait for the network: the time counts for the push. If it throws, ``unconfiguredText`` is shown, and the next
    /// push calls it again: a file may become readable after the first unlock. A thrown `FailureClass` becomes the failure
    /// of the push; any other error is `internalError`.
    open func configure() throws -> ExtensionConfiguration {
        throw ExtensionSetupError(.notConfigured, "\(type(of: self)) doesn't override configure()")
    }

    /// The app's own text for a push without a configuration: ``configure()`` threw, or didn't return in time. No content of
    /// the push is shown with it.
    open var unconfiguredText: Placeholder { .standard }

    /// Receives a report for every push, after `ExtensionConfiguration.diagnostics`; nil for none. The default writes one
    /// line to the system's log, subsystem `pushcrypt`, category `extension`.
    open var log: (any DeliveryReporter)? { DeliveryLog.system }

    /// Restores the push and calls the handler exactly once.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let delivery = PushDelivery(
            payload: UserInfoJSON.json(request.content.userInfo), requestID: request.identifier,
            unconfiguredText: unconfiguredText, strings: appStrings, handler: contentHandler,
            ended: { [running] delivery in running.withLock { $0[ObjectIdentifier(delivery)] = nil } })
        running.withLock { $0[ObjectIdentifier(delivery)] = delivery }
        do {
            var configuration = try cache.configuration(of: type(of: self), make: completeConfiguration)
            if let log {
                configuration.diagnostics =
                    configuration.diagnostics.map { ReporterPair(first: $0, second: log) } ?? log
            }
            delivery.start(configuration)
        } catch {
            let failure = error as? FailureClass ?? .internalError
            delivery.end(failure)
            Self.log(error, failure)
        }
    }

    private func completeConfiguration() throws -> ExtensionConfiguration {
        var configuration = try configure()
        configuration.strings = configuration.strings ?? appStrings()
        if configuration.version.isEmpty { configuration.version = Bundle.main.version }
        configuration.deliveredNotifications = configuration.deliveredNotifications ?? deliveredNotifications
        return configuration
    }

    /// Hands over the best content so far for every push that this service is restoring.
    open override func serviceExtensionTimeWillExpire() {
        let deliveries = running.withLock { Array($0.values) }
        for delivery in deliveries { delivery.end(.timedOut) }
        // The system may end the process when this function returns, and a session may still wait for its store.
        let limit = DispatchTime.now() + .milliseconds(500)
        for delivery in deliveries { delivery.waitForEnd(until: limit) }
    }

    /// The text of an error of the app's own code may contain anything, so the log shows it only on a device that is set up
    /// for development.
    private static func log(_ error: any Error, _ failure: FailureClass) {
        #if canImport(os)
        let type = String(describing: type(of: error))
        Logger(subsystem: "pushcrypt", category: "extension").error(
            """
            \(failure.rawValue, privacy: .public): configure() threw \(type, privacy: .public): \(String(describing: error))
            """)
        #endif
    }
}

extension DeliveryLog {
    /// The system's log, subsystem `pushcrypt`, category `extension`; on systems without it, nothing is written.
    public static let system = DeliveryLog { line in
        #if canImport(os)
        Logger(subsystem: "pushcrypt", category: "extension").notice("\(line, privacy: .public)")
        #endif
    }
}

private struct ReporterPair: DeliveryReporter {
    let first: any DeliveryReporter
    let second: any DeliveryReporter

    func report(_ report: DeliveryReport) {
        first.report(report)
        second.report(report)
    }
}

/// The configurations of a process, one for each service class. The system creates a service for every push, usually in the
/// same process, so keys and store are opened only once.
final class ConfigurationCache: Sendable {
    static let shared = ConfigurationCache()

    private let kept = Locked<[ObjectIdentifier: ExtensionConfiguration]>([:])

    /// - Parameter make: called for each push until it succeeds once, and not under the lock, so a call that hangs doesn't
    ///   delay the next push. Of concurrent calls, the first result is kept.
    func configuration(
        of service: AnyClass, make: () throws -> ExtensionConfiguration
    ) rethrows -> ExtensionConfiguration {
        let id = ObjectIdentifier(service)
        if let configuration = kept.withLock({ $0[id] }) { return configuration }
        let made = try make()
        return kept.withLock { kept in
            let configuration = kept[id] ?? made
            kept[id] = configuration
            return configuration
        }
    }
}

/// One push of a service. It keeps the system's handler until a session exists, and then passes the handler to the session.
/// The current owner of the handler calls it once.
final class PushDelivery: Sendable {
    // Unchecked: Apple's handler may be called on any thread, but its type isn't Sendable.
    private struct Handler: @unchecked Sendable {
        let call: (UNNotificationContent) -> Void
    }

    // Unchecked: the object isn't changed after it was made.
    private struct Converted: @unchecked Sendable {
        let system: UNNotificationContent
    }

    private enum Phase {
        case configuring(Handler)
        case running(DeliverySession)
    }

    private let payload: [UInt8]
    private let requestID: String
    private let unconfigured: Fallback
    private let strings: @Sendable () -> any StringTable
    private let ended: @Sendable (PushDelivery) -> Void
    private let phase: EndingOnce<Phase>
    private let hasEnded = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - strings: resolves the keys of the unconfigured text.
    ///   - ended: called after the handler.
    init(
        payload: [UInt8], requestID: String, unconfiguredText: Placeholder,
        strings: @escaping @Sendable () -> any StringTable, handler: @escaping (UNNotificationContent) -> Void,
        ended: @escaping @Sendable (PushDelivery) -> Void
    ) {
        self.payload = payload
        self.requestID = requestID
        self.strings = strings
        unconfigured = .bundled(unconfiguredText)
        self.ended = ended
        phase = EndingOnce(.configuring(Handler(call: handler)))
    }

    /// Starts a session, unless the time ran out while the service was configured.
    func start(_ configuration: ExtensionConfiguration) {
        phase.update { [self] phase in
            guard case .configuring(let handler) = phase else { return }
            phase = .running(
                DeliverySession(
                    payload: payload, requestID: requestID, configuration: configuration,
                    convert: { [self] content in
                        let (system, refused) = content.finalForm()
                        let converted = Converted(system: system)
                        return DeliverySession.SystemForm(
                            refused: refused, userInfo: UserInfoJSON.json(system.userInfo)
                        ) { [self] _ in
                            handOver(converted.system, to: handler)
                        }
                    }))
        }
        if case .running(let session) = phase.current { session.start() }
    }

    /// Hands over the session's best content so far, or the unconfigured text with the failure if there is no session.
    func end(_ failure: FailureClass) {
        switch phase.end() {
        case .running(let session): session.expire()
        case .configuring(let handler):
            handOver(unconfigured.content(for: payload, failure, in: strings).systemContent, to: handler)
        case nil: break
        }
    }

    private func handOver(_ content: UNNotificationContent, to handler: Handler) {
        handler.call(content)
        // The session and this object have each other until then.
        _ = phase.end()
        ended(self)
        hasEnded.signal()
    }

    /// Waits until the handler was called.
    func waitForEnd(until limit: DispatchTime) {
        // For the next caller.
        if hasEnded.wait(timeout: limit) == .success { hasEnded.signal() }
    }
}
#endif
