#if canImport(UserNotifications) && !os(tvOS)
import Foundation
public import PushCryptExtension
public import UserNotifications

/// A stage that changes the system's content object, for code of an existing extension.
///
/// Members that the change doesn't touch stay exactly as they were, and sounds and attachments that it sets are shown with all
/// their options. An attachment that the system refuses is counted as missing.
public struct SystemContentStage: ContentStage, UnsealedStage {
    /// Changes the content object in place; an error leaves the content as it was.
    public typealias Change = @Sendable (UNMutableNotificationContent) async throws -> Void

    /// The name in diagnostics.
    public let name: String
    /// How long the stage may take; nil for the rest of the session's time.
    public let timeLimit: Duration?
    private let change: Change

    /// Creates a stage.
    public init(name: String = "SystemContentStage", timeLimit: Duration? = nil, _ change: @escaping Change) {
        self.name = name
        self.timeLimit = timeLimit
        self.change = change
    }

    /// Runs the change on the system's object for the content.
    ///
    /// - Throws: `EncodingError` if the change sets a `userInfo` that JSON can't express, such as a date.
    public func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await process(unsealed: content)
    }

    /// Runs the change on the system's object for content that wasn't sealed; see ``process(_:of:)``.
    public func process(unsealed content: NotificationContent) async throws -> NotificationContent {
        let system = content.systemContent
        let old = SystemMembers(system)
        try await change(system)
        return try content.changed(from: old, to: SystemMembers(system))
    }
}

/// The last stage of an app, which returns the system's own content object: `configuration.finish`.
///
/// The object is shown as it is, with what the system keeps in it: `UNNotificationContent.updating(from:)` returns such an
/// object. Its time is part of the session's time; if it throws or takes too long, the content before it is shown.
public struct FinishingStage: FinalStage {
    /// Returns the object to show: the given object after changes, or another one.
    public typealias Finish = @Sendable (UNMutableNotificationContent, OpenedPush) async throws -> UNNotificationContent

    /// The name in diagnostics.
    public let name: String
    /// How long the stage may take; nil for the rest of the session's time.
    public let timeLimit: Duration?
    private let finish: Finish

    /// Creates a stage.
    public init(name: String = "FinishingStage", timeLimit: Duration? = nil, _ finish: @escaping Finish) {
        self.name = name
        self.timeLimit = timeLimit
        self.finish = finish
    }

    /// Returns the content of the system's object, with the object.
    ///
    /// - Throws: the error of the closure, or `EncodingError` for a `userInfo` that JSON can't express, such as a date.
    public func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        let system = content.systemContent
        let old = SystemMembers(system)
        let finished = try await finish(system, push)
        var changed = try content.changed(from: old, to: SystemMembers(finished))
        // A copy of a mutable object, because the app may keep the object.
        if let final = finished.copy() as? UNNotificationContent { changed.systemObject = SystemObject(final) }
        return changed
    }
}

/// The members of a content object at one time.
private struct SystemMembers {
    let content: NotificationContent
    let sound: UNNotificationSound?
    let attachments: [UNNotificationAttachment]

    init(_ system: UNNotificationContent) {
        content = NotificationContent(system)
        sound = system.sound
        attachments = system.attachments
    }
}

extension NotificationContent {
    /// - Parameter old: the members of this content's ``systemContent``.
    fileprivate func changed(from old: SystemMembers, to new: SystemMembers) throws -> NotificationContent {
        guard !new.content.userInfo.isEmpty else {
            throw EncodingError.invalidValue(
                "userInfo", .init(codingPath: [], debugDescription: "userInfo has a value that JSON doesn't have"))
        }
        var content = self
        func take<Member: Equatable>(_ member: WritableKeyPath<NotificationContent, Member>) {
            let value = new.content[keyPath: member]
            if value != old.content[keyPath: member] { content[keyPath: member] = value }
        }
        for text in [\NotificationContent.title, \.subtitle, \.body] { take(text) }
        for text in [\NotificationContent.category, \.threadID, \.targetContentID, \.filterCriteria] { take(text) }
        take(\.launchImage)
        take(\.badge)
        take(\.interruptionLevel)
        take(\.relevanceScore)
        take(\.userInfo)
        if new.sound != old.sound { content.sound = new.content.sound }
        content.attachments = new.attachments.map { attachment($0, old) }
        content.missingAttachmentCount += attachments.count - old.attachments.count
        return content
    }

    /// The attachment of this content that the object was made of, or a new one. A new one for the same file keeps the path of
    /// this content, because a session removes files by their paths, and the system may write the same path differently.
    private func attachment(_ system: UNNotificationAttachment, _ old: SystemMembers) -> Attachment {
        let made = old.attachments.first { $0 === system } ?? old.attachments.first { $0.url == system.url }
        guard let made, let own = attachments.first(where: { $0.identifier == made.identifier }) else {
            return Attachment(system, path: system.url.path)
        }
        return made === system ? own : Attachment(system, path: own.path)
    }
}
#endif
