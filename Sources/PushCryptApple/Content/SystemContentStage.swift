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
/// An object other than the given one is shown as it is, with what the system keeps in it:
/// `UNNotificationContent.updating(from:)` returns such an object, which must not be changed any more. So it also keeps its
/// badge, although other messages may count on until it is shown; the given object and that of a ``CommunicationStage`` show
/// the number that is right then. The stage's time is part of the session's time; if it throws or takes too long, the content
/// before it is shown.
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
        let isSame = finished === system
        return try content.finished(isSame ? FinishedContent(system) : FinishedContent(asIs: finished), old)
    }
}

extension NotificationContent {
    /// The content as the system decorates it for a provider, such as an intent.
    ///
    /// - Throws: the system's error for the provider.
    func finished(from provider: any UNNotificationContentProviding) throws -> NotificationContent {
        let system = systemContent
        return try finished(FinishedContent(system, updatedFrom: provider), SystemMembers(system))
    }

    fileprivate func finished(_ finished: FinishedContent, _ old: SystemMembers) throws -> NotificationContent {
        var changed = try changed(from: old, to: SystemMembers(finished.object))
        changed.systemObject = SystemObject(finished)
        return changed
    }
}

/// The object that the last stage has made, and what it was made of, if that is known: an object that was updated from a provider
/// must not be changed, so another badge needs a new one.
final class FinishedContent {
    /// The object to show.
    let object: UNNotificationContent
    private let base: UNNotificationContent?
    private let provider: (any UNNotificationContentProviding)?

    /// - Throws: the system's error for the provider.
    init(_ content: UNNotificationContent, updatedFrom provider: (any UNNotificationContentProviding)? = nil) throws {
        // A copy, because the app may keep a mutable object.
        let base = content.copy() as? UNNotificationContent ?? content
        object = try provider.map { try base.updating(from: $0) } ?? base
        (self.base, self.provider) = (base, provider)
    }

    init(asIs object: UNNotificationContent) {
        self.object = object.copy() as? UNNotificationContent ?? object
        (base, provider) = (nil, nil)
    }

    /// The object to show, with the number that was counted meanwhile.
    ///
    /// - Throws: the system's error for the provider.
    func object(withBadge badge: Int?) throws -> UNNotificationContent {
        guard object.badge?.intValue != badge, let changed = base?.mutableCopy() as? UNMutableNotificationContent else {
            return object
        }
        changed.badge = badge.map { NSNumber(value: $0) }
        return try FinishedContent(changed, updatedFrom: provider).object
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
