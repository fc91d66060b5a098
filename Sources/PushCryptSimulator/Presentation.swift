public import PushCryptNotifications
import PushCryptPrimitives

/// How a notification was presented when it was delivered.
public struct SimulatedPresentation: Hashable, Sendable {
    /// The notification.
    public let notification: DeliveredNotification
    /// A banner over the app or the home screen, or the lit lock screen.
    public let isBanner: Bool
    /// It is in the list.
    public let isListed: Bool
    /// The sound that was played.
    public let sound: NotificationContent.Sound?
    /// The number on the icon afterwards.
    public let badge: Int
}

extension SimulatedNotificationCenter {
    /// Presents a notification, or nothing if the user doesn't allow it.
    ///
    /// - "Handling notifications and notification-related actions": in the foreground the delegate decides, and without a
    ///   delegate nothing is shown.
    /// - `UNNotificationInterruptionLevel`: a passive notification is only added to the list, without a sound; a critical one
    ///   plays its sound although the device is muted.
    @discardableResult
    func deliver(_ notification: DeliveredNotification) async -> SimulatedPresentation? {
        let notification = DeliveredNotification(notification, textsFrom: strings ?? [String: String]())
        let (settings, appState) = (currentSettings, appState)
        guard settings.isAuthorized else { return nil }
        let content = notification.request.content
        let isPassive = content.interruptionLevel == "passive"
        let isQuiet = isPassive || settings.authorization == .provisional
        var options: PresentationOptions = []
        if settings.showsBanners, !isQuiet { options.insert(.banner) }
        if settings.showsInList { options.insert(.list) }
        if settings.allowed.contains(.sound), !isQuiet { options.insert(.sound) }
        if settings.allowed.contains(.badge) { options.insert(.badge) }
        if appState == .foreground { options.formIntersection(await foregroundOptions(notification)) }
        let chosen = options
        return state.withLock { state in
            // A notification with the same name replaces the earlier one.
            state.delivered.removeAll { $0.id == notification.id }
            if chosen.contains(.list), content.hasText { state.delivered.append(notification) }
            if chosen.contains(.badge), let badge = content.badge { state.badge = max(badge, 0) }
            let presentation = SimulatedPresentation(
                notification: notification, isBanner: chosen.contains(.banner) && content.hasText,
                isListed: chosen.contains(.list) && content.hasText,
                sound: chosen.contains(.sound) ? content.sound : nil, badge: state.badge)
            state.presentations.append(presentation)
            return presentation
        }
    }

    private func foregroundOptions(_ notification: DeliveredNotification) async -> PresentationOptions {
        guard let responder = state.withLock({ $0.responder }) else { return [] }
        return await responder.presentation(of: notification)
    }
}

extension DeliveredNotification {
    /// The notification with the texts that the system shows for keys.
    fileprivate init(_ notification: DeliveredNotification, textsFrom strings: any StringTable) {
        var request = notification.request
        let known = request.content.localized(by: strings)
        func text(_ part: WritableKeyPath<NotificationContent, NotificationContent.Text>) -> NotificationContent.Text {
            guard let key = request.content[keyPath: part].locKey, strings.string(for: key) == nil else {
                return known[keyPath: part]
            }
            return NotificationContent.Text(literal: key)
        }
        request.content.title = text(\.title)
        request.content.subtitle = text(\.subtitle)
        request.content.body = text(\.body)
        self.init(request, at: notification.time)
    }
}
