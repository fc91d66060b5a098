#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How much of a notification is shown.
public struct NotificationPreview: Hashable, Sendable, CustomStringConvertible {
    /// The name in the file.
    public let description: String

    /// Text and attachments.
    public static let everything = NotificationPreview(description: "everything")
    /// The title; the app's own text if there is no title.
    public static let titleOnly = NotificationPreview(description: "titleOnly")
    /// The app's own text, which says only that there is a message.
    public static let nothing = NotificationPreview(description: "nothing")

    /// All values, from the most that is shown to the least.
    public static let all = [everything, titleOnly, nothing]
}

/// The recipient's choice how much is shown, in a file of the app group's folder. The app writes it, and the extension
/// applies it to every notification: see ``ExtensionConfiguration/preview``.
public struct PreviewChoice: Sendable {
    private let path: String

    /// Creates the choice of a file, which needn't exist.
    public init(path: String) { self.path = path }

    /// The recipient's choice; ``NotificationPreview/everything`` if there is no file, and ``NotificationPreview/nothing`` if it can't be read.
    public var current: NotificationPreview {
        do {
            let name = try Data(contentsOf: URL(fileURLWithPath: path))
            return NotificationPreview.all.first { $0.description.utf8.elementsEqual(name) } ?? .nothing
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return .everything
        } catch {
            return .nothing
        }
    }

    /// Replaces the choice, for all notifications that the extension shows from now on.
    ///
    /// - Throws: Foundation's error if the file can't be written; the choice stays as it was.
    public func set(_ preview: NotificationPreview) throws {
        #if canImport(Darwin) && !os(macOS)
        let options: Data.WritingOptions = [.atomic, .completeFileProtectionUntilFirstUserAuthentication]
        #else
        let options: Data.WritingOptions = .atomic
        #endif
        try Data(preview.description.utf8).write(to: URL(fileURLWithPath: path), options: options)
    }
}

extension NotificationContent {
    /// Returns the content without what the recipient doesn't want to be shown. Members that aren't text or attachments stay.
    ///
    /// - Parameter ownText: content with the app's own text, which replaces a hidden title.
    func showing(_ preview: NotificationPreview, ownText: @autoclosure () -> NotificationContent) -> NotificationContent
    {
        guard preview != .everything else { return self }
        var content = self
        (content.subtitle, content.body, content.summaryArgument) = (Text(), Text(), nil)
        (content.attachments, content.systemObject) = ([], nil)
        guard preview == .nothing || title.isEmpty else { return content }
        let own = ownText()
        (content.title, content.subtitle, content.body) = (own.title, own.subtitle, own.body)
        return content
    }
}
