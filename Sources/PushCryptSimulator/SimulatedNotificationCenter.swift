import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

/// A model of the system's notification centre, on a simulated clock: authorization, scheduled notifications, presentation,
/// the lists, and what the user does.
///
/// Each behaviour names the page of Apple's documentation that describes it. Where the documentation is silent, the comment says
/// so, and the model takes the strictest reading.
public final class SimulatedNotificationCenter: UserNotificationCenter {
    /// Where the app is.
    public enum AppState: Hashable, Sendable {
        /// On the screen.
        case foreground
        /// Running or suspended behind other apps.
        case background
        /// Not running: the system launches it for a response.
        case notRunning
    }

    struct State {
        var settings = NotificationSettings()
        var strings: (any StringTable)?
        var bundlePath: String?
        /// The options that the app has asked for last, without `provisional`.
        var requested: NotificationOptions = []
        var questionCount = 0
        var answer: @Sendable (NotificationOptions) -> Bool = { _ in true }
        var categories: [NotificationCategory] = []
        var scheduled: [String: Scheduled] = [:]
        var delivered: [Shown] = []
        var presentations: [SimulatedPresentation] = []
        var badge = 0
        var appState = AppState.background
        var isLocked = false
        var isMuted = false
        var allowsLocation = true
        var position: Position?
        var responder: ConnectedResponder?
        var contentExtensions: [any NotificationContentExtension] = []
        var shown: [String: ShownContentExtension] = [:]
        var files: [String: [UInt8]] = [:]
        var deliveries: [Task<Void, Never>] = []

        /// Removes notifications from list and lock screen.
        mutating func remove(_ requestIDs: [String]) {
            delivered.removeAll { requestIDs.contains($0.notification.id) }
            for id in requestIDs { shown[id] = nil }
        }

        /// Sets what a user has allowed; previews stay as they are.
        mutating func allow(_ options: NotificationOptions) {
            let showsAlerts = options.contains(.alert)
            settings = NotificationSettings(
                authorization: .authorized, allowed: options, showsOnLockScreen: showsAlerts, showsInList: showsAlerts,
                showsBanners: showsAlerts, allowsTimeSensitive: true, previews: settings.previews)
        }
    }

    /// A notification that was delivered, and where it is.
    struct Shown {
        let notification: DeliveredNotification
        let isListed: Bool
        let isOnLockScreen: Bool
    }

    struct Scheduled {
        let request: NotificationRequest
        /// When it will fire, by the clock's `elapsed`; nil for a region.
        let due: Duration?
        let number: Int
        let cancel: @Sendable () -> Void
    }

    let clock: SimulatedClock
    let calendar: GregorianCalendar
    let state = Locked(State())

    /// Creates the centre of an app that hasn't asked its user.
    ///
    /// - Parameters:
    ///   - calendar: finds the times of calendar triggers, in GMT if there is none.
    ///   - answer: the user's answer to the system's question.
    public init(
        _ clock: SimulatedClock, calendar: GregorianCalendar = .gmt,
        answer: @escaping @Sendable (NotificationOptions) -> Bool = { _ in true }
    ) {
        self.clock = clock
        self.calendar = calendar
        state.withLock { $0.answer = answer }
    }

    /// Sets the object that answers for the app, like the delegate of the system's centre.
    ///
    /// - Parameters:
    ///   - verifier: tells what the extension restored; nil counts every push as unverified (`noVerifier`), except a placeholder
    ///     that `kept` opens.
    ///   - kept: opens a placeholder that the user taps.
    public func setResponder(
        _ responder: (any NotificationResponder)?, verifier: NotificationVerifier? = nil, kept: KeptNotifications? = nil
    ) {
        state.withLock { $0.responder = responder.map { ConnectedResponder($0, verifier: verifier, kept: kept) } }
    }

    /// The app's Localizable.strings in the user's language. "Generating a remote notification": the system shows its texts for
    /// `title-loc-key`, `subtitle-loc-key` and `loc-key`. The page doesn't say what it shows without a text; devices show the key.
    /// It doesn't say either what becomes of a text with a specifier other than `%@`; the strictest reading is that the key is shown.
    public var strings: (any StringTable)? {
        get { state.withLock { $0.strings } }
        set { state.withLock { $0.strings = newValue } }
    }

    /// The folder of the app's bundle: the system copies attachments that are in it, and moves others. nil if the app has none.
    public var bundlePath: String? {
        get { state.withLock { $0.bundlePath } }
        set { state.withLock { $0.bundlePath = newValue } }
    }

    /// Where the app is. "Handling notifications and notification-related actions" and `UNNotificationActionOptions`: a tap and an
    /// action with `foreground` bring the app to the foreground, and another action leaves it in the background.
    public var appState: AppState {
        get { state.withLock { $0.appState } }
        set { state.withLock { $0.appState = newValue } }
    }

    /// Whether the device is locked. The documentation is silent about the app on the screen; the strictest reading is that it goes to
    /// the background.
    public var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set {
            state.withLock { state in
                state.isLocked = newValue
                if newValue, state.appState == .foreground { state.appState = .background }
            }
        }
    }

    /// Whether the device is muted. `UNNotificationInterruptionLevel`: then only critical notifications have a sound.
    public var isMuted: Bool {
        get { state.withLock { $0.isMuted } }
        set { state.withLock { $0.isMuted = newValue } }
    }

    /// Whether the user allows the app to use the location. `UNLocationNotificationTrigger`: regions need it. The page doesn't
    /// say what becomes of them without it; the strictest reading is that they stay scheduled and aren't shown.
    public var allowsLocation: Bool {
        get { state.withLock { $0.allowsLocation } }
        set { state.withLock { $0.allowsLocation = newValue } }
    }

    /// The number on the app's icon: that of the latest content with a number, or of ``setBadgeCount(_:)``.
    public var badge: Int { state.withLock { $0.badge } }

    /// How each notification was presented, in order.
    public var presentations: [SimulatedPresentation] { state.withLock { $0.presentations } }

    // MARK: Authorization

    /// Asks the user, once. "Asking permission to use notifications": the first request asks the user, and later ones return the
    /// recorded answer; a provisional one doesn't ask.
    public func requestAuthorization(_ options: NotificationOptions) async throws -> Bool {
        if let answer = recordedAnswer(to: options) { return answer }
        // Without the lock: the answer is code of the test, which may use this object.
        let isAllowed = state.withLock({ $0.answer })(options)
        return state.withLock { state in
            if isAllowed {
                state.allow(options)
            } else {
                state.settings = NotificationSettings(authorization: .denied, previews: state.settings.previews)
            }
            return isAllowed
        }
    }

    /// - Returns: nil if the user is asked.
    private func recordedAnswer(to options: NotificationOptions) -> Bool? {
        state.withLock { state in
            state.requested = options.subtracting(.provisional)
            switch state.settings.authorization {
            case .denied: return false
            case .authorized: return !state.settings.allowed.isDisjoint(with: options)
            case .provisional where options.contains(.provisional): return true
            case .notDetermined, .provisional: break
            }
            if options.contains(.provisional) {
                // Quiet: the list only. "Asking permission to use notifications".
                state.settings = NotificationSettings(
                    authorization: .provisional, allowed: options.subtracting(.provisional), showsInList: true,
                    previews: state.settings.previews)
                return true
            }
            state.questionCount += 1
            return nil
        }
    }

    /// Switches "Allow Notifications" on, as the user does in the Settings app: what the app has asked for is allowed. It does
    /// nothing before the app has asked, because the Settings app doesn't list it then.
    public func allowInSettings() {
        state.withLock { state in
            if state.settings.authorization != .notDetermined { state.allow(state.requested) }
        }
    }

    /// How often the user was asked.
    public var questionCount: Int { state.withLock { $0.questionCount } }

    /// What the user allows at present.
    public func settings() async -> NotificationSettings { currentSettings }

    /// What the user allows at present.
    public var currentSettings: NotificationSettings { state.withLock { $0.settings } }

    /// Changes the settings, as the user does in the Settings app. "Asking permission to use notifications": the user can change them
    /// at any time, without the app.
    public func changeSettings(_ change: @Sendable (inout NotificationSettings) -> Void) {
        // Without the lock: the change is code of the test, which may use this object.
        var settings = currentSettings
        change(&settings)
        state.withLock { [settings] in $0.settings = settings }
    }

    // MARK: Categories

    /// Replaces all categories. "Declaring your actionable notification types".
    public func setCategories(_ categories: [NotificationCategory]) { state.withLock { $0.categories = categories } }

    /// The categories.
    public func categories() async -> [NotificationCategory] { state.withLock { $0.categories } }

    func category(of content: NotificationContent) -> NotificationCategory? {
        state.withLock { state in state.categories.first { $0.id == content.category } }
    }

    // MARK: Lists

    /// The notifications in the list, the latest last. `UNUserNotificationCenter`: those that are still in Notification Center.
    public func delivered() async -> [DeliveredNotification] { deliveredNotifications }

    /// The notifications in the list, the latest last.
    public var deliveredNotifications: [DeliveredNotification] {
        state.withLock { $0.delivered.filter(\.isListed).map(\.notification) }
    }

    /// The notifications that lock screen and list have, the latest last.
    var shownNotifications: [Shown] { state.withLock { $0.delivered } }

    /// Removes notifications from the list. `UNUserNotificationCenter` is silent about the lock screen and about unknown names; the
    /// strictest reading is that the lock screen doesn't show them any more, and that unknown names are ignored.
    public func remove(_ requestIDs: [String]) { state.withLock { $0.remove(requestIDs) } }

    /// Removes all notifications from the list: `UNUserNotificationCenter`. The lock screen doesn't show them any more, as with
    /// ``remove(_:)``.
    public func removeAllDelivered() { remove(shownNotifications.map(\.notification.id)) }

    /// Removes all that the system has of a deleted app.
    func forgetApp() {
        removeAllDelivered()
        removeAllPending()
        state.withLock { state in
            state.settings = NotificationSettings()
            (state.requested, state.categories, state.badge) = ([], [], 0)
            (state.appState, state.responder, state.contentExtensions) = (.notRunning, nil, [])
        }
    }

    /// Sets the number on the icon, if the user allows badges. Apple's documentation says neither what happens otherwise nor what a
    /// negative number does; the strictest reading is that both are errors.
    ///
    /// - Throws: `NotificationError` with `notAllowed`, or `invalidContent` for a negative number.
    public func setBadgeCount(_ count: Int) async throws {
        guard count >= 0 else { throw NotificationError(.invalidContent, "a badge is 0 or more, and this is \(count)") }
        try state.withLock { state in
            guard state.settings.allowed.contains(.badge) else {
                throw NotificationError(.notAllowed, "the user doesn't allow badges")
            }
            state.badge = count
        }
    }

    // MARK: Files

    /// The bytes of an attachment that the system holds; nil for an unknown path.
    public func file(_ path: String) -> [UInt8]? { state.withLock { $0.files[path] } }
}
