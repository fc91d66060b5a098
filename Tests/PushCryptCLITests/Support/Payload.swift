import Foundation
import Testing

/// Reads and changes payloads with Foundation instead of the code under test.
enum Payload {
    static func member(_ path: String, of payload: Data) throws -> Any? {
        var value: Any? = try JSONSerialization.jsonObject(with: payload)
        for name in path.split(separator: ".") {
            value = (value as? [String: Any])?[String(name)]
        }
        return value
    }

    static func string(_ path: String, of payload: Data) throws -> String? {
        try member(path, of: payload) as? String
    }

    /// The payload with another character in the middle of `pushcrypt.sealed`.
    static func tampered(_ payload: Data) throws -> Data {
        let sealed = try string("pushcrypt.sealed", of: payload) ?? ""
        var characters = Array(sealed)
        let middle = characters.count / 2
        characters[middle] = characters[middle] == "A" ? "B" : "A"
        return replacing(sealed, with: String(characters), in: payload)
    }

    static func replacing(_ old: String, with new: String, in payload: Data) -> Data {
        Data(String(decoding: payload, as: UTF8.self).replacingOccurrences(of: old, with: new).utf8)
    }

    // MARK: What relays do

    static func object(_ payload: Data) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: payload) as? [String: Any])
    }

    static func data(_ object: Any) throws -> Data {
        try JSONSerialization.data(withJSONObject: object, options: [.withoutEscapingSlashes, .fragmentsAllowed])
    }

    /// Parses the payload, changes it and writes it again.
    static func rebuilt(_ payload: Data, _ change: (inout [String: Any]) throws -> Void) throws -> Data {
        var object = try object(payload)
        try change(&object)
        return try data(object)
    }

    static func changing(_ payload: Data, _ name: String, _ change: (inout [String: Any]) throws -> Void) throws -> Data
    {
        try rebuilt(payload) { root in
            var member = try #require(root[name] as? [String: Any])
            try change(&member)
            root[name] = member
        }
    }

    static func sealed(_ payload: Data, _ change: (String) -> String) throws -> Data {
        try changing(payload, "pushcrypt") { envelope in
            envelope["sealed"] = change(try #require(envelope["sealed"] as? String))
        }
    }
}
