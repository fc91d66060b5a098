/// What the app does with its notifications. `PushCryptNotificationDelegate` of PushCryptApple calls it on Apple's systems, and
/// `SimulatedNotificationCenter` of PushCryptSimulator in tests: `UNUserNotificationCenterDelegate`.
@MainActor public protocol NotificationResponder: Sendable {
    /// Returns how a notification is presented while the app is in the foreground; an empty set shows nothing. The system has
    /// run the extension before. The default shows everything.
    func presentation(of notification: ReceivedNotification) async -> PresentationOptions

    /// Receives what the user did with a notification. The default does nothing.
    func received(_ response: ReceivedResponse) async

    /// The user asks the system for the app's own settings, which an app offers with `NotificationOptions.providesAppSettings`.
    /// `userNotificationCenter(_:openSettingsFor:)`. The default does nothing.
    ///
    /// - Parameter notification: the one from which the user asked; nil from the Settings app.
    func openSettings(from notification: ReceivedNotification?) async
}

extension NotificationResponder {
    /// Shows everything.
    public func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        [.banner, .list, .sound, .badge]
    }

    /// Does nothing.
    public func received(_ response: ReceivedResponse) async {}

    /// Does nothing.
    public func openSettings(from notification: ReceivedNotification?) async {}
}
