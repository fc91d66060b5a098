import Foundation
import PushCryptCore
import PushCryptPrimitives
import Testing

@testable import PushCryptKeysets

/// The text of a keyset's file, with functions that change it without the secret.
struct EditedText {
    var text: String

    init(_ text: String) {
        self.text = text
    }

    init(_ bytes: [UInt8]) {
        text = String(decoding: bytes, as: UTF8.self)
    }

    var bytes: [UInt8] { Array(text.utf8) }

    private func root() throws -> JSONValue { try JSONText(bytes).root }

    /// The text of the value at `path`.
    func value(_ path: String) throws -> String {
        let value = try find(path)
        return String(decoding: value.rawBytes, as: UTF8.self)
    }

    func find(_ path: String) throws -> JSONValue {
        try path.split(separator: ".").reduce(root()) { value, name in try #require(value[String(name)]) }
    }

    /// Replaces the value at `path`. The digest no longer matches.
    func setting(_ path: String, to value: String) throws -> EditedText {
        let range = try find(path).range
        return EditedText(Array(bytes[..<range.lowerBound]) + Array(value.utf8) + Array(bytes[range.upperBound...]))
    }

    /// Removes the member at `path` by renaming it to `unknown`.
    func removing(_ path: String) throws -> EditedText {
        let names = path.split(separator: ".").map(String.init)
        let parent = try names.dropLast().reduce(root()) { value, name in try #require(value[name]) }
        let member = try #require(parent.members.first { $0.hasName(names[names.count - 1]) })
        let range = member.nameRange
        return EditedText(
            Array(bytes[..<range.lowerBound]) + Array(#""unknown""#.utf8) + Array(bytes[range.upperBound...]))
    }

    /// Recomputes the digest.
    func withDigest() throws -> EditedText {
        let end = try #require(text.range(of: ",\n  \"digest\""))
        let covered = Array(text[..<end.lowerBound].utf8)
        let digest = try DefaultBackend.shared.sha256(covered.bytes)
        return EditedText(covered + Array(",\n  \"digest\": \"\(Base64URL.encode(digest))\"\n}\n".utf8))
    }

    func withoutDigest() throws -> EditedText {
        let end = try #require(text.range(of: ",\n  \"digest\""))
        return EditedText(String(text[..<end.lowerBound]) + "\n}\n")
    }

    func file() throws -> KeysetFile { try KeysetFile(bytes, path: "keyset.json") }

    @discardableResult
    func unlocked(_ secret: KeysetSecret = SealedSample.passphrase()) throws -> StoredKeyset {
        try file().unlocked(SecretSource(secret))
    }
}

extension KeystoreError.Code {
    /// The code of the `KeystoreError` that `body` throws; nil if it throws none, or another error.
    static func thrown<Result>(by body: () throws -> Result) -> Self? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? KeystoreError)?.code
        }
    }
}

extension KeyError.Code {
    /// The code of the `KeyError` that `body` throws; nil if it throws none, or another error.
    static func thrown<Result>(by body: () throws -> Result) -> Self? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? KeyError)?.code
        }
    }
}
