import Foundation

/// A payload as the system hands it to code, and as JSON.
public enum UserInfoJSON {
    /// What `Opener` and `DeliverySession` read: the payload as APNs carried it, but for white space, the order of members
    /// and the spelling of strings, on which nothing depends. Sealing is untouched by that: it is one string.
    ///
    /// - Parameter userInfo: `request.content.userInfo`, or what the app is handed with a push.
    /// - Returns: UTF-8 JSON; empty for what no push can hold, which then is `malformed`.
    public static func json(_ userInfo: [AnyHashable: Any]) -> [UInt8] {
        guard let object = userInfo as? [String: Any], JSONSerialization.isValidJSONObject(object),
            let json = try? JSONSerialization.data(withJSONObject: object, options: .withoutEscapingSlashes)
        else { return [] }
        return Array(json)
    }

    /// What the app gets as `userInfo`. Nulls are left out: the system takes property lists only, which have none.
    ///
    /// - Parameter json: an object, UTF-8; anything else is an empty dictionary.
    public static func dictionary(_ json: [UInt8]) -> [AnyHashable: Any] {
        let object = try? JSONSerialization.jsonObject(with: Data(json))
        guard let object = object as? [String: Any] else { return [:] }
        return object.compactMapValues(propertyList)
    }

    private static func propertyList(_ value: Any) -> Any? {
        switch value {
        case is NSNull: nil
        case let object as [String: Any]: object.compactMapValues(propertyList)
        case let array as [Any]: array.compactMap(propertyList)
        default: value
        }
    }
}
