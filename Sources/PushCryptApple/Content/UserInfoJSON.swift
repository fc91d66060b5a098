import Foundation
import PushCryptCore

/// A payload as the system hands it to code, and as JSON.
public enum UserInfoJSON {
    /// What `Opener` and `DeliverySession` read: the payload as APNs carried it, but for white space, the order of members
    /// and the spelling of strings, on which nothing depends. Sealing is untouched by that: it is one string.
    ///
    /// - Parameter userInfo: `request.content.userInfo`, or what the app is handed with a push.
    /// - Returns: UTF-8 JSON, the same for the same dictionary; empty for what no push can hold, which then is `malformed`.
    public static func json(_ userInfo: [AnyHashable: Any]) -> [UInt8] {
        guard let object = userInfo as? [String: Any], JSONSerialization.isValidJSONObject(object),
            let json = try? JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return [] }
        return Array(json)
    }

    /// What the app gets as `userInfo`. Nulls are left out: the system takes property lists only, which have none.
    ///
    /// - Parameter json: an object, UTF-8, by the strict rules of the protocol; anything else is an empty dictionary, and
    ///   so is an object with a number that no `Double` holds.
    public static func dictionary(_ json: [UInt8]) -> [AnyHashable: Any] {
        guard let root = try? JSONText(json).root, root.kind == .object else { return [:] }
        return (try? PropertyList.dictionary(root)) ?? [:]
    }
}

/// Makes the dictionary in one step and in its final size. `JSONSerialization` and a second pass that takes the nulls out
/// would hold it twice or three times, which an extension has no memory for.
private enum PropertyList {
    private struct NumberOutOfRange: Error {}

    static func dictionary(_ object: JSONValue) throws -> [AnyHashable: Any] {
        var result = [AnyHashable: Any](minimumCapacity: object.members.count)
        for member in object.members {
            if let value = try value(member.value) { result[member.name] = value }
        }
        return result
    }

    private static func value(_ value: JSONValue) throws -> Any? {
        switch value.kind {
        case .object:
            var result = [String: Any](minimumCapacity: value.members.count)
            for member in value.members {
                if let value = try Self.value(member.value) { result[member.name] = value }
            }
            return result
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
    //  As `JSONSerialization` has it: what is read as another type of number is converted. Most need no memory of their own.
    private static func number(_ value: Int) -> Any { NSNumber(value: value) }
    private static func number(_ value: UInt64) -> Any { NSNumber(value: value) }
    private static func number(_ value: Double) -> Any { NSNumber(value: value) }
    private static func number(_ value: Bool) -> Any { NSNumber(value: value) }
    #else
    //  Each `NSNumber` would be an object of 64 bytes.
    private static func number<Number>(_ value: Number) -> Any { value }
    #endif
}
