import Foundation

/// Reads payloads with Foundation instead of the code under test.
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
}
