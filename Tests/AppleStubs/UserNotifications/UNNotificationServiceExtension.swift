public import Foundation

// The part of Apple's documented API that PushCryptApple uses, for systems without the framework. No product depends on it.
// NSSecureCoding, triggers and the notification centre are left out.

open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    open func serviceExtensionTimeWillExpire() {}
}

open class UNNotificationTrigger: NSObject {}

open class UNNotificationRequest: NSObject {
    public let identifier: String
    public let content: UNNotificationContent
    public let trigger: UNNotificationTrigger?

    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = content.frozen
        self.trigger = trigger
    }
}
