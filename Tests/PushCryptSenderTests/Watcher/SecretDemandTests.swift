import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptSender
import PushCryptTestSupport
import Testing

/// An attacker who can write to the folder, but doesn't know the secret, replaces the encrypted keys.
@Suite("with a secret, plain keys in the place of an encrypted keyset are refused")
struct SecretDemandTests {
    /// The files that the attacker can make: all except an encrypted keyset.
    enum Forgery: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case plainKeyset, plainKeysetWithoutDigest, publicKeyset, publicSet, privateJWK, publicJWK, demoKeys, noKeys

        var testDescription: String { rawValue }

        /// Whether a keystore reads the file. It doesn't read JWKs.
        var isKeyset: Bool {
            [.plainKeyset, .plainKeysetWithoutDigest, .publicKeyset, .demoKeys, .noKeys].contains(self)
        }

        func text() throws -> [UInt8] {
            switch self {
            case .plainKeyset: try Operator(.recipient).text()
            case .plainKeysetWithoutDigest:
                Array(
                    String(decoding: try Operator(.recipient).text(), as: UTF8.self).replacing(
                        /,\s+"digest".*"/, with: ""
                    ).utf8)
            case .publicKeyset:
                try Operator(.recipient).edited { stored in
                    stored.records = stored.records.mapValues { $0.publicRecord(keepingPSK: false) }
                }
            case .publicSet:
                try Operator(.recipient).keyset().publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
            case .privateJWK: TestKeys.privateJWK("x25519")
            case .publicJWK: TestKeys.publicJWK("x25519")
            case .demoKeys: Array(DemoKeys.recipientJSON.utf8)
            case .noKeys: Array(#"{"keys":[],"pushcrypt":{"seq":9,"kind":"recipient","keys":{}}}"#.utf8)
            }
        }
    }

    @Test("Keyset(folder:) with a secret refuses a plain keyset", arguments: Forgery.allCases.filter(\.isKeyset))
    func folder(_ forgery: Forgery) throws {
        let place = try Operator(.recipient, under: .cheap, .test("right"))
        #expect(try Keyset(folder: place.path, secret: .test("right")).keyIDs.count == 1)
        try place.write(forgery.text())
        expectRefusal(place.filePath) { try Keyset(folder: place.path, secret: .test("right")) }
        // The file is refused before the secret is read, so no command runs for keys that it didn't wrap.
        expectRefusal(place.filePath) { try Keyset(folder: place.path, secret: .command("exit 1;")) }
    }

    @Test("Keyset(file:) with a secret refuses plain keys", arguments: Forgery.allCases.filter { $0 != .noKeys })
    func file(_ forgery: Forgery) throws {
        let place = try Operator(.recipient, under: .cheap, .test("right"))
        #expect(try Keyset(file: place.filePath, secret: .test("right")).keyIDs.count == 1)
        try place.write(forgery.text())
        expectRefusal(place.filePath) { try Keyset(file: place.filePath, secret: .test("right")) }
    }

    @Test(
        "KeysetWatcher with a secret refuses plain keys at its start",
        arguments: Forgery.allCases.filter { $0 != .noKeys })
    func watcherAtItsStart(_ forgery: Forgery) throws {
        let place = try Operator(.recipient, under: .cheap, .test("right"))
        try place.write(forgery.text())
        if forgery.isKeyset {
            expectRefusal(place.filePath) { try KeysetWatcher(folder: place.path, secret: .test("right")) }
        }
        expectRefusal(place.filePath) { try KeysetWatcher(file: place.filePath, secret: .test("right")) }
    }

    /// Also with the `seq` and the keys of the keyset in use, because plain text isn't authenticated.
    @Test("KeysetWatcher with a secret refuses plain keys later and keeps the keys in use", arguments: [false, true])
    func watcherLater(_ isFile: Bool) throws {
        let place = try Operator(.shared, under: .cheap, .test("right"))
        let keyset = isFile ? KeysetPlace(file: place.filePath) : KeysetPlace(folder: place.path)
        let watch = try Watch(keyset, .test("right"), clock: place.clock)
        let kid = try watch.watcher.recipient().kid
        for raise in [0, 1] as [Int64] {
            try place.write(
                place.edited { stored in
                    (stored.protection, stored.secret) = (.plaintext, nil)
                    stored.metadata.sequence += raise
                })
            let reason = try #require(watch.check()?.reason)
            #expect(reason.hasPrefix("\(place.filePath) is not encrypted"), "\(reason)")
            #expect(try watch.watcher.recipient().kid == kid)
            try place.write(Self.sealed(place))
            _ = watch.check()
        }
    }

    private static func sealed(_ place: Operator) throws -> [UInt8] {
        var stored = try KeysetFolder(place.path).file().unlocked(.none)
        stored.metadata.sequence = 1
        (stored.protection, stored.secret) = (.cheap, .test("right"))
        return try stored.fileText()
    }

    @Test("the published demo keys are loaded with any secret if they are allowed")
    func allowedDemoKeys() throws {
        let place = try Operator()
        try place.write(Array(DemoKeys.sharedJSON.utf8))
        for secret in [nil, KeysetSecret.test("any")] {
            #expect(try Keyset(folder: place.path, secret: secret, allowsDemoKeys: true).keyIDs.count == 1)
            #expect(try Keyset(file: place.filePath, secret: secret, allowsDemoKeys: true).keyIDs.count == 1)
        }
    }

    private func expectRefusal(_ path: String, _ body: () throws -> some Any) {
        let error = #expect(throws: KeystoreError.self) { _ = try body() }
        #expect(error?.code == .notEncrypted, "\(error.map(\.reason) ?? "")")
        #expect(error?.reason.hasPrefix("\(path) is not encrypted") == true, "\(error.map(\.reason) ?? "")")
    }
}
