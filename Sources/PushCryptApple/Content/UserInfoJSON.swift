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

    /// Returns the app's `userInfo`. Nulls are left out, because the system accepts only property lists, which have none.
    ///
    /// - Parameter json: an object, UTF-8, by the strict rules of the protocol.
    /// - Returns: the dictionary; empty if the JSON isn't such an object, or contains a number outside `Double`'s range.
    public static func dictionary(_ json: [UInt8]) -> [AnyHashable: Any] {
        guard let root = try? JSONText(json).root, root.kind == .object else { return [:] }
        return (try? PropertyList.dictionary(root, key: AnyHashable.init)) ?? [:]
    }
}

/// Creates the dictionary in one pass. `JSONSerialization` and a second pass that removes nulls would need two or three times
/// the memory, which an extension doesn't have.
private enum PropertyList {
    private struct NumberOutOfRange: Error {}

    static func dictionary<Key: Hashable>(_ object: JSONValue, key: (String) -> Key) throws -> [Key: Any] {
        var result = [Key: Any](minimumCapacity: object.members.count)
        for member in object.members {
            if let value = try value(member.value) { result[key(member.name)] = value }
        }
        return result
    }

    private static func value(_ value: JSONValue) throws -> Any? {
        switch value.kind {
        case .object: return try dictionary(value, key: \.self)
        case .array:
            var result: [Any] = []
            result.reserveCapacity(value.elements.count)
            for element in value.elements {
                if let value = try Self.value(element) { result.append(value) }
            }
            return result
        case .string: return value.string
        case .boolean: return number(value.boolean == true)
        case .number: return try number(String(decoding: value.rawBytes, as: UTF8.self))
        case .null: return nil
        }
    }

    private static func number(_ text: String) throws -> Any {
        if let integer = Int(text) { return number(integer) }
        if let integer = UInt64(text) { return number(integer) }
        guard let double = Double(text), double.isFinite else { throw NumberOutOfRange() }
        return number(double)
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
