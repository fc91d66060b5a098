public import Foundation

extension NSString {
    /// The system resolves such a string when it shows the notification; here the parts stay visible.
    public class func localizedUserNotificationString(forKey key: String, arguments: [Any]?) -> String {
        "localized \(key)\(arguments ?? [])"
    }
}
