import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Keysets to begin with, made by the library: a debug build of the tool spends a tenth of a second on its arguments.
extension Workplace {
    /// As by `keys create --insecure-plaintext` at `time`; returns the kid.
    func make(_ path: String, _ kind: String, at time: String) throws -> String {
        let kind = try #require(KeyKind(rawValue: kind))
        return try make(path, kind, .plaintext, nil, at: #require(UnixTime(rfc3339: time)))
    }

    func make(
        _ path: String, _ kind: KeyKind, psk: Bool = false, _ protection: Protection, _ secret: KeysetSecret?,
        at time: UnixTime
    ) throws -> String {
        let record = try KeyRecord.generate(kind, psk: psk, backend: DefaultBackend.shared)
        try KeysetStore(folder.file(path).path).create(
            record, .standard, protection, secret, at: time, by: Actor(name: NSUserName(), reason: nil))
        return "\(record.kid)"
    }

    /// An encrypted keyset of a passphrase in `passphrase`, made at `now`; returns its kid.
    ///
    /// - Parameter scrypt: what guessing the passphrase costs, and opening the keys; next to nothing unless told.
    @discardableResult
    func createEncrypted(
        _ path: String, _ kind: KeyKind, scrypt: ScryptParameters = EncryptedPlace.cheap
    ) throws -> String {
        try write(Data("correct horse".utf8), to: "passphrase")
        let passphrase = Array("correct horse".utf8)
        return try make(
            path, kind, .passphrase(scrypt), .passphrase(SecretBytes(copying: passphrase.bytes)),
            at: #require(UnixTime(rfc3339: Self.now)))
    }
}
