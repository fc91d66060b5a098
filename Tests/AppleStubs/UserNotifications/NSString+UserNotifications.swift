public import Foundation

extension NSString {
    /// Returns a text with the key and the arguments. The system would resolve the key when it shows the notification.
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        "localized \(key)\(arguments ?? [])"
    }
}
