import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptSender
import PushCryptTestSupport
import Testing

/// `Keyset(file:)` and `KeysetWatcher(file:)`, with only the import that a backend has.
@Suite("loading a keyset") struct LoadingTests {
    private let folder = try! TemporaryFolder()
    private var path: String { folder.path + "/push.keyset" }

    /// An attacker who can write to the folder, but doesn't know the secret, replaces the encrypted keys.
    @Test("with a secret, plain keys in the place of an encrypted keyset are refused, before a command runs")
    func notEncrypted() throws {
        let keyset = try KeysetFiles(.recipient)
        let texts = [
            try keyset.file, try keyset.keyset.jwkSet(withHistory: true), TestKeys.privateJWK("x25519"),
            try keyset.keyset.publicKeyset(keepingPSK: false).jwkSet(withHistory: true), TestKeys.publicJWK("x25519"),
        ]
        for text in texts {
            try FileSystem.replace(path, with: text)
            expectKeystoreError(.notEncrypted) { try Keyset(file: path, secret: .test("right")) }
            expectKeystoreError(.notEncrypted) { try KeysetWatcher(file: path, secret: .command("exit 1;")) }
        }
    }

    @Test("demo keys are refused unless they are allowed; then any secret, owner and mode will do")
    func demoKeys() throws {
        try FileSystem.replace(path, with: DemoKeys.shared.file, mode: 0o644)
        for secret in [nil, KeysetSecret.test("any")] {
            expectKeystoreError(.demoKeys) { try Keyset(file: path, secret: secret) }
            expectKeystoreError(.demoKeys) { try KeysetWatcher(file: path, secret: secret) }
            #expect(try Keyset(file: path, secret: secret, allowsDemoKeys: true).keyIDs.count == 1)
            let watcher = try KeysetWatcher(file: path, secret: secret, allowsDemoKeys: true)
            #expect(try watcher.recipient().suite == .shared)
        }
    }

    @Test("a missing file, a folder and a device are refused")
    func missing() throws {
        expectKeystoreError(.notFound) { try Keyset(file: path) }
        expectKeystoreError(.notAKeyset) { try Keyset(file: folder.path) }
        expectKeystoreError(.notAKeyset) { try Keyset(file: "/dev/null") }
    }

    /// A file with secrets must be private. A published file may be readable for all users.
    @Test("a file with secrets that other users can open is refused", arguments: [0o604, 0o602, 0o660, 0o666, 0o644])
    func looseFile(mode: Int) throws {
        let keysets = [try KeysetFiles(.shared), try KeysetFiles(.sender, .test("right"))]
        for (keyset, secret) in zip(keysets, [nil, KeysetSecret.test("right")]) {
            try keyset.write(to: path, mode: mode)
            expectKeystoreError(.looseMode) { try Keyset(file: path, secret: secret) }
        }
        let senders = try keysets[1].keyset.publicKeyset(keepingPSK: false)
        try FileSystem.replace(path, with: senders.jwkSet(withHistory: true), mode: mode)
        #expect(try Keyset(file: path).kind == .sender)
    }
}
