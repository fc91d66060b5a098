public import Foundation

extension NSString {
    /// Returns a text with the key and the arguments. The system would resolve the key when it shows the notification.
    @available(iOS 10, macOS 10.14, watchOS 3, visionOS 1, *)
    @available(tvOS, unavailable)
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        "localized \(key)\(arguments ?? [])"
    }
}
