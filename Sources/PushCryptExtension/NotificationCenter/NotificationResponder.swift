/// What the app does with its notifications. `PushCryptNotificationDelegate` of PushCryptApple calls it on Apple's systems, and
/// `SimulatedNotificationCenter` of PushCryptSimulator in tests: `UNUserNotificationCenterDelegate`.
@MainActor public protocol NotificationResponder: Sendable {
    /// Returns how a notification is presented while the app is in the foreground; an empty set shows nothing. The system has
    /// run the extension before. The default shows everything, but a message that the app opened itself only in the list, because
    /// there may be many at once.
    func presentation(of notification: ReceivedNotification) async -> PresentationOptions

    /// Receives what the user did with a notification. The default does nothing.
    func received(_ response: ReceivedResponse) async

    /// The user asks the system for the app's own settings, which an app offers with `NotificationOptions.providesAppSettings`.
    /// `userNotificationCenter(_:openSettingsFor:)`. The default does nothing.
    ///
    /// - Parameter notification: the one from which the user asked; nil from the Settings app.
    func openSettings(from notification: ReceivedNotification?) async
}

extension PresentationOptions {
    /// What the default of ``NotificationResponder/presentation(of:)`` returns.
    public static func standard(for notification: ReceivedNotification) -> PresentationOptions {
        if case .restored(let push) = notification, push.requestID.hasSuffix(KeptNotifications.suffix) { return .list }
        return [.banner, .list, .sound, .badge]
    }
}

extension NotificationResponder {
    /// Shows everything, and a message that the app opened itself in the list.
    public func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        .standard(for: notification)
    }

    /// Does nothing.
    public func received(_ response: ReceivedResponse) async {}

    /// Does nothing.
    public func openSettings(from notification: ReceivedNotification?) async {}
}

/// An app's responder with what it needs: notifications are verified before it sees them, and a tapped placeholder is opened.
package struct ConnectedResponder: Sendable {
    private let responder: any NotificationResponder
    private let verifier: NotificationVerifier?
    private let kept: KeptNotifications?

    /// - Parameter verifier: nil counts every push as unverified, except a placeholder that `kept` opens.
    package init(
        _ responder: any NotificationResponder, verifier: NotificationVerifier?, kept: KeptNotifications?
    ) {
        self.responder = responder
        self.verifier = verifier
        self.kept = kept
    }

    @MainActor package func presentation(of notification: DeliveredNotification) async -> PresentationOptions {
        await responder.presentation(of: verified(notification))
    }

    @MainActor package func received(
        _ action: ReceivedResponse.Action, text: String?, to notification: DeliveredNotification
    ) async {
        var verified = await verified(notification)
        // The system has removed it from the list, so it can't be opened later.
        if case .unverified(let unverified) = verified, unverified.reason == .sealed, action != .dismiss,
            let restored = await kept?.restored(notification)
        {
            verified = .restored(restored)
        }
        await responder.received(ReceivedResponse(to: verified, action: action, text: text))
    }

    @MainActor package func openSettings(from notification: DeliveredNotification?) async {
        guard let notification else { return await responder.openSettings(from: nil) }
        await responder.openSettings(from: verified(notification))
    }

    private func verified(_ notification: DeliveredNotification) async -> ReceivedNotification {
        if let verifier {
            let received = await verifier.received(notification)
            guard case .unverified(let push) = received, push.reason == .unsealed, kept?.showsUnsealed == true else {
                return received
            }
            return .unverified(.init(requestID: push.requestID, reason: .unsealed, payload: notification.userInfo))
        }
        guard notification.request.trigger == .push else { return .local(notification.request) }
        let isSealed = KeptMessage.outerPayload(userInfo: notification.userInfo) != nil
        return .unverified(.init(requestID: notification.id, reason: isSealed ? .sealed : .noVerifier))
    }
}
