public import Foundation

// The part of Apple's documented API that PushCryptApple uses, with its documented availability, for systems without the
// framework. No product depends on it. NSSecureCoding is left out. What only the stubs have is named
// stub…, so that .ci/apple finds tests that can't compile on Apple's systems.

@available(iOS 10, macOS 10.14, watchOS 6, visionOS 1, *)
@available(tvOS, unavailable)
open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        contentHandler(request.content)
    }

    open func serviceExtensionTimeWillExpire() {}
}

@available(iOS 10, macOS 10.14, watchOS 3, tvOS 10, visionOS 1, *)
open class UNNotificationTrigger: NSObject {
    public let repeats: Bool

    /// Apple's class has no initializer for apps.
    init(stubRepeats: Bool) { repeats = stubRepeats }
}

@available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
@available(tvOS, unavailable)
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
