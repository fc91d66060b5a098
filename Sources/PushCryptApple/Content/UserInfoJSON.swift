import Foundation
import PushCryptCore

/// Converts between the system's `userInfo` dictionary and JSON.
public enum UserInfoJSON {
    /// Returns the payload for `Opener` and `DeliverySession`. It differs from the received payload only in white space, the
    /// order of members and the escaping of strings. The sealed data is one string and isn't affected.
    ///
    /// - Parameter userInfo: `request.content.userInfo`, or the dictionary that the app receives with a push.
    /// - Returns: UTF-8 JSON, the same for the same dictionary; empty, which is `malformed`, if the dictionary isn't JSON.
    public static func json(_ userInfo: [AnyHashable: Any]) -> [UInt8] {
        guard let object = userInfo as? [String: Any], JSONSerialization.isValidJSONObject(object),
            let json = try? JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return [] }
        return Array(json)
    }

    /// Returns the app's `userInfo`, a property list, which has no null and no number outside of `Double`'s range. A member with
    /// such a value is left out. In an array an empty string stands in its place, so that the other elements keep their indexes.
    ///
    /// - Parameter json: an object, UTF-8, by the strict rules of the protocol.
    /// - Returns: the dictionary; empty if the JSON isn't such an object.
    public static func dictionary(_ json: [UInt8]) -> [AnyHashable: Any] {
        guard let root = try? JSONText(json).root, root.kind == .object else { return [:] }
        return PropertyList.dictionary(root, key: AnyHashable.init)
    }
}

/// Creates the dictionary in one pass. `JSONSerialization` and a second pass that removes nulls would need two or three times
/// the memory, which an extension doesn't have.
private enum PropertyList {
    static func dictionary<Key: Hashable>(_ object: JSONValue, key: (String) -> Key) -> [Key: Any] {
        var result = [Key: Any](minimumCapacity: object.members.count)
        for member in object.members {
            if let value = value(member.value) { result[key(member.name)] = value }
        }
        return result
    }

    /// - Returns: nil for a value that a property list can't represent.
    private static func value(_ value: JSONValue) -> Any? {
        switch value.kind {
        case .object: return dictionary(value, key: \.self)
        case .array:
            var result: [Any] = []
            result.reserveCapacity(value.elements.count)
            for element in value.elements { result.append(Self.value(element) ?? "") }
            return result
        case .string: return value.string
        case .boolean: return number(value.boolean == true)
        case .number, .null:
            switch PropertyListNumber(value) {
            case .integer(let integer): return number(integer)
            case .unsigned(let integer): return number(integer)
            case .double(let double, _): return number(double)
            case nil: return nil
            }
        }
    }

    #if canImport(ObjectiveC)
    // `JSONSerialization` returns `NSNumber` too, so that the app can read any number type. Most of these are tagged pointers.
    private static func number(_ value: Int) -> Any { NSNumber(value: value) }
    private static func number(_ value: UInt64) -> Any { NSNumber(value: value) }
    private static func number(_ value: Double) -> Any { NSNumber(value: value) }
    private static func number(_ value: Bool) -> Any { NSNumber(value: value) }
    #else
    // On Linux each `NSNumber` would be an object of 64 bytes.
    private static func number<Number>(_ value: Number) -> Any { value }
    #endif
}
