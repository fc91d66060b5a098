public import PushCryptExtension
import PushCryptPrimitives

/// How a notification was presented when it was delivered.
public struct SimulatedPresentation: Hashable, Sendable {
    /// The notification.
    public let notification: DeliveredNotification
    /// A banner over the app or the home screen, or the lit lock screen.
    public let isBanner: Bool
    /// It is in the list.
    public let isListed: Bool
    /// It is on the lock screen.
    public let isOnLockScreen: Bool
    /// The sound that was played.
    public let sound: NotificationContent.Sound?
    /// The number on the icon afterwards.
    public let badge: Int
    /// Whether the notification has set it.
    package let setsBadge: Bool

    /// Whether the user sees the notification anywhere.
    package var isVisible: Bool { isBanner || isListed || isOnLockScreen }
}

extension SimulatedNotificationCenter {
    /// Presents a notification, or nothing if the user doesn't allow it.
    ///
    /// - `UNUserNotificationCenterDelegate`: in the foreground the delegate decides. Its page says that a notification is shown if
    ///   there is no delegate. The simulator shows nothing, so that a test finds an app that forgets its delegate.
    /// - `UNNotificationSettings`: banner, list and lock screen are independent settings. Its page doesn't say where a
    ///   notification of an app in the foreground is later; here `list` of the delegate's answer decides for both.
    /// - `UNNotificationInterruptionLevel`: a passive notification is only added to the list, without a sound; a critical one
    ///   plays its sound although the device is muted, if the user allows it.
    /// - `UNMutableNotificationContent`: the content's number is set, if the user allows badges. The page is silent about a negative
    ///   number, which removes the number here.
    @discardableResult
    func deliver(_ notification: DeliveredNotification) async -> SimulatedPresentation? {
        guard appState == .foreground else { return present(notification) }
        guard currentSettings.isAuthorized else { return nil }
        let localized = DeliveredNotification(notification, textsFrom: strings ?? [String: String]())
        return present(notification, as: await foregroundOptions(localized))
    }

    /// - Parameter wanted: what the app chooses. Without its choice everything that the user allows is shown.
    func present(
        _ notification: DeliveredNotification, as wanted: PresentationOptions = .all
    ) -> SimulatedPresentation? {
        let notification = DeliveredNotification(notification, textsFrom: strings ?? [String: String]())
        let settings = currentSettings
        guard settings.isAuthorized else { return nil }
        let content = notification.request.content
        let chosen = settings.options(for: content, isMuted: isMuted).intersection(wanted)
        let shown = Shown(
            notification: notification, isListed: chosen.contains(.list) && content.hasText,
            isOnLockScreen: settings.showsOnLockScreen && wanted.contains(.list) && content.hasText)
        return state.withLock { state in
            // A notification with the same name replaces the earlier one.
            state.remove([notification.id])
            if shown.isListed || shown.isOnLockScreen { state.delivered.append(shown) }
            if chosen.contains(.badge), let badge = content.badge { state.badge = max(badge, 0) }
            let presentation = SimulatedPresentation(
                notification: notification, isBanner: chosen.contains(.banner) && content.hasText,
                isListed: shown.isListed, isOnLockScreen: shown.isOnLockScreen,
                sound: chosen.contains(.sound) ? content.sound : nil, badge: state.badge,
                setsBadge: chosen.contains(.badge) && content.badge != nil)
            state.presentations.append(presentation)
            return presentation
        }
    }

    private func foregroundOptions(_ notification: DeliveredNotification) async -> PresentationOptions {
        guard let responder = state.withLock({ $0.responder }) else { return [] }
        return await clock.run { await responder.presentation(of: notification) }
    }
}

extension PresentationOptions {
    static let all: PresentationOptions = [.badge, .sound, .list, .banner]
}

extension NotificationSettings {
    /// How content is presented while the app isn't in the foreground.
    fileprivate func options(for content: NotificationContent, isMuted: Bool) -> PresentationOptions {
        let isQuiet = content.interruptionLevel == "passive" || authorization == .provisional
        let isCritical = content.interruptionLevel == "critical" || content.sound?.isCritical == true
        let isHeard = allowed.contains(.sound) && !isMuted || allowed.contains(.criticalAlert) && isCritical
        var options: PresentationOptions = []
        if showsBanners, !isQuiet { options.insert(.banner) }
        if showsInList { options.insert(.list) }
        if isHeard, !isQuiet { options.insert(.sound) }
        if allowed.contains(.badge) { options.insert(.badge) }
        return options
    }
}

extension DeliveredNotification {
    /// The notification with the texts that the system shows for keys.
    fileprivate init(_ notification: DeliveredNotification, textsFrom strings: any StringTable) {
        var request = notification.request
        let known = request.content.localized(by: strings)
        func text(_ part: WritableKeyPath<NotificationContent, NotificationContent.Text>) -> NotificationContent.Text {
            guard let key = request.content[keyPath: part].locKey,
                strings.string(for: key).flatMap({ try? StringFormat($0) }) == nil
            else { return known[keyPath: part] }
            return NotificationContent.Text(literal: key)
        }
        request.content.title = text(\.title)
        request.content.subtitle = text(\.subtitle)
        request.content.body = text(\.body)
        self.init(request, at: notification.time)
    }
}
