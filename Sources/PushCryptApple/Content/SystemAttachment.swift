#if canImport(UserNotifications) && !os(tvOS)
import Foundation
import PushCryptExtension
import UserNotifications

extension NotificationContent.Attachment {
    /// The system reads the type from the hint: a file's name says nothing of its content.
    ///
    /// - Throws: what the system says of a file that it can't show.
    var systemAttachment: UNNotificationAttachment {
        get throws {
            try UNNotificationAttachment(
                identifier: identifier, url: URL(fileURLWithPath: path),
                options: [UNNotificationAttachmentOptionsTypeHintKey: type.uniformTypeIdentifier])
        }
    }

    /// nil for a type that isn't in the documentation's table.
    init?(_ system: UNNotificationAttachment) {
        guard let type = AttachmentType.all.first(where: { $0.uniformTypeIdentifier == system.type }) else {
            return nil
        }
        self.init(identifier: system.identifier, path: system.url.path, type: type)
    }
}
#endif
