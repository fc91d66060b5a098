import Foundation
import Intents
import PushCryptApple
import UserNotifications

/// Shows a message with an attributed text, such as one with a Genmoji, from iOS 18 on, and with its plain text before.
nonisolated func attributedMessages(
    _ read: @escaping @Sendable (OpenedPush) -> (message: CommunicationStage.Message, text: NSAttributedString)?
) -> FinishingStage {
    FinishingStage { content, push in
        guard let (message, text) = read(push) else { return content }
        guard #available(iOS 18, macOS 15, watchOS 11, visionOS 2, *) else {
            return try content.updating(from: message.intent)
        }
        return try content.updating(
            from: UNNotificationAttributedMessageContext(sendMessageIntent: message.intent, attributedContent: text))
    }
}
