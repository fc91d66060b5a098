public import PushCryptExtension
import PushCryptPrimitives

/// What a person sees on the lock screen.
public struct LockScreen: Hashable, Sendable {
    /// A notification as it is shown.
    public struct Banner: Hashable, Sendable {
        /// The name of the request.
        public let id: String
        /// The title; nil if there is none, or it is hidden.
        public let title: String?
        /// The subtitle; nil if there is none, or it is hidden.
        public let subtitle: String?
        /// The body; nil if there is none. If previews are hidden, the text in its place.
        public let body: String?
        /// The first attachment with a thumbnail that isn't hidden.
        public let attachment: NotificationContent.Attachment?
        /// Whether the user's settings hide the content.
        public let isHidden: Bool
        /// Whether it is marked as time-sensitive.
        public let isTimeSensitive: Bool
        /// When it was delivered.
        public let time: UnixTime
    }

    /// The notifications of one thread, the latest first. Those without a thread are one group.
    public struct Group: Hashable, Sendable {
        /// The thread; nil for notifications without one.
        public let threadID: String?
        /// The notifications.
        public let banners: [Banner]
    }

    /// The groups, the one with the latest notification first.
    public let groups: [Group]
    /// The time on the screen.
    public let time: UnixTime
}

extension SimulatedNotificationCenter {
    /// What the system shows in place of a hidden body if the category has no text for it. Its documentation names no text.
    static let hiddenBody = "Notification"

    /// The lock screen at the clock's time.
    ///
    /// - `UNNotificationContent.threadIdentifier`: notifications with the same value are one group.
    /// - `UNNotificationCategory.hiddenPreviewsBodyPlaceholder`: replaces the body; `%u` in it is the number of notifications of
    ///   the group. Title and subtitle are hidden too, unless the category's options show them.
    public var lockScreen: LockScreen {
        let settings = currentSettings
        let listed = notificationsOnLockScreen
        var threads: [String?] = []
        for notification in listed.reversed() where !threads.contains(notification.request.content.threadID) {
            threads.append(notification.request.content.threadID)
        }
        let groups = threads.map { thread in
            let members = listed.reversed().filter { $0.request.content.threadID == thread }
            return LockScreen.Group(
                threadID: thread,
                banners: members.map { banner($0, groupCount: members.count, settings) })
        }
        return LockScreen(groups: groups, time: clock.time)
    }

    /// A notification as a banner or the list shows it, which may not be on the lock screen.
    package func banner(_ notification: DeliveredNotification) -> LockScreen.Banner {
        let thread = notification.request.content.threadID
        let count = shownNotifications.count { $0.notification.request.content.threadID == thread }
        return banner(notification, groupCount: max(count, 1), currentSettings)
    }

    private var notificationsOnLockScreen: [DeliveredNotification] {
        guard currentSettings.showsOnLockScreen else { return [] }
        return shownNotifications.filter(\.isOnLockScreen).map(\.notification)
    }

    private func banner(
        _ notification: DeliveredNotification, groupCount: Int, _ settings: NotificationSettings
    ) -> LockScreen.Banner {
        let isHidden = settings.previews == .never || settings.previews == .whenUnlocked && isLocked
        let content = notification.request.content
        let category = category(of: content)
        let options = isHidden ? category?.options ?? [] : [.hiddenPreviewsShowTitle, .hiddenPreviewsShowSubtitle]
        let hidden = (category?.hiddenPreviewsBodyPlaceholder ?? Self.hiddenBody)
            .split(separator: "%u", omittingEmptySubsequences: false).joined(separator: "\(groupCount)")
        return LockScreen.Banner(
            id: notification.id,
            title: options.contains(.hiddenPreviewsShowTitle) ? content.title.literal.nonempty : nil,
            subtitle: options.contains(.hiddenPreviewsShowSubtitle) ? content.subtitle.literal.nonempty : nil,
            body: isHidden ? hidden : content.body.literal.nonempty,
            attachment: isHidden ? nil : content.attachments.first { !$0.thumbnail.isHidden }, isHidden: isHidden,
            isTimeSensitive: content.interruptionLevel == "time-sensitive" && settings.allowsTimeSensitive,
            time: notification.time)
    }
}

extension String? {
    fileprivate var nonempty: String? { self?.isEmpty == false ? self : nil }
}
