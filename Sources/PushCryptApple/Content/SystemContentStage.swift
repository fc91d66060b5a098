#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptExtension
public import UserNotifications

/// A stage written for the system's content object, such as the body of an extension that an app had before.
///
/// What the change leaves as it is stays what it was, to the byte. A sound of its own name can't be read back from Apple's
/// class: set one with a `ContentStage`, here it becomes the default one.
public struct SystemContentStage: ContentStage, UnsealedStage {
    /// Changes the content object in place; an error leaves the content as it was.
    public typealias Change = @Sendable (UNMutableNotificationContent) async throws -> Void

    /// The name in diagnostics.
    public let name: String
    /// How long it may take at most; nil for as long as the session has.
    public let timeLimit: Duration?
    private let change: Change

    /// - Parameters:
    ///   - name: for diagnostics.
    ///   - timeLimit: how long it may take at most; nil for as long as the session has.
    ///   - change: what to do with the content.
    public init(name: String = "SystemContentStage", timeLimit: Duration? = nil, _ change: @escaping Change) {
        self.name = name
        self.timeLimit = timeLimit
        self.change = change
    }

    /// Runs the change on the system's object for the content.
    ///
    /// - Throws: what the change throws.
    public func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    /// Runs the change on the system's object for content that wasn't sealed.
    ///
    /// - Throws: what the change throws.
    public func process(unsealed content: NotificationContent) async throws -> NotificationContent {
        let changed = content.systemContent
        try await change(changed)
        return content.changed(to: changed)
    }
}

extension NotificationContent {
    fileprivate func changed(to system: UNNotificationContent) -> NotificationContent {
        let old = systemContent
        let new = NotificationContent(system)
        var content = self
        if system.title != old.title { content.title = new.title }
        if system.subtitle != old.subtitle { content.subtitle = new.subtitle }
        if system.body != old.body { content.body = new.body }
        if system.badge != old.badge { content.badge = new.badge }
        if system.sound != old.sound { content.sound = new.sound }
        if system.categoryIdentifier != old.categoryIdentifier { content.category = new.category }
        if system.threadIdentifier != old.threadIdentifier { content.threadID = new.threadID }
        if system.interruptionLevel != old.interruptionLevel { content.interruptionLevel = new.interruptionLevel }
        if system.relevanceScore != old.relevanceScore { content.relevanceScore = new.relevanceScore }
        if system.targetContentIdentifier != old.targetContentIdentifier {
            content.targetContentID = new.targetContentID
        }
        if system.filterCriteria != old.filterCriteria { content.filterCriteria = new.filterCriteria }
        if new.attachments != NotificationContent(old).attachments { content.attachments = new.attachments }
        if new.userInfo != UserInfoJSON.json(old.userInfo) { content.userInfo = new.userInfo }
        return content
    }
}
#endif
