import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// The keys that a watcher returns for each kind of keyset, and those that it refuses.
@Suite("KeysetWatcher's keys") struct KeyTests {
    @Test(
        "a keyset of recipient or shared keys gives a recipient and no sender key",
        arguments: [
            (.recipient, .p256, false), (.recipient, .p256, true), (.recipient, .x25519, false),
            (.recipient, .x25519, true), (.shared, .p256, false),
        ] as [(KeyKind, KeyPairType, Bool)])
    func recipientKeys(kind: KeyKind, type: KeyPairType, psk: Bool) throws {
        let place = try Operator(kind, type: type, psk: psk)
        let watch = try Watch(place)
        #expect(try place.open(watch.seal()) == Watch.payload)
        #expect(watch.watcher.current.entries.allSatisfy { !$0.record.isPrivateAsymmetric })
        #expect(watch.watcher.current.entries.allSatisfy { $0.record.hasPSK == psk })
        expectKeyError(.wrongKind) { try watch.watcher.senderKey() }
        guard kind == .recipient else { return }
        expectKeyError(.wrongKind) { try watch.watcher.recipient(device: DeviceID("one")) }
    }

    @Test("a recipient for a device seals with that device's derived key") func aDevicesOwn() throws {
        let place = try Operator(.shared)
        let watch = try Watch(place)
        let device = try DeviceID("one")
        let push = try watch.seal(to: watch.watcher.recipient(device: device))
        #expect(try place.open(push, device: device) == Watch.payload)
        #expect(throws: FailureClass.undecryptable) { try place.open(push) }
        #expect(throws: FailureClass.undecryptable) { try place.open(push, device: DeviceID("two")) }
    }

    @Test("a keyset of sender keys gives a sender key and no recipient") func senderKeys() throws {
        let (senders, recipients) = (try Watch(Operator(.sender)), try Watch(Operator(.shared)))
        let push = try recipients.seal(signer: senders.watcher.senderKey())
        let skid = try #require(senders.watcher.current.keyIDs.first)
        #expect(String(decoding: push.json, as: UTF8.self).contains(#""skid":"\#(skid)""#))
        expectKeyError(.wrongKind) { try senders.watcher.recipient() }
        expectKeyError(.wrongKind) { try senders.watcher.recipient(device: DeviceID("one")) }
    }

    @Test(
        "a set whose newest key ranks below an older one is watched only if an operator allows it",
        .enabled(if: PushCryptCore.Suite.xWing.isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"))
    func lowerSuite() throws {
        let entries = try [(KeyPairType.xWing, Int64(0)), (.p256, 1)].map { type, time in
            let record = try KeyRecord.generate(.recipient, type: type, psk: true, backend: DefaultBackend.shared)
            let lifecycle = KeyLifecycle(activatesAt: UnixTime(time))
            return Keyset.Entry(record.publicRecord(keepingPSK: true), lifecycle)
        }
        let folder = try TemporaryFolder()
        let file = folder.file("set.json")
        try Data(Keyset(entries, sequence: 1).jwkSet(withHistory: false)).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let now: @Sendable () -> UnixTime = { UnixTime(2) }
        expectKeyError(.suiteTooLow) { try KeysetWatcher(file: file.path, clock: now) }
        let watcher = try KeysetWatcher(file: file.path, allowsLowerSuite: true, clock: now)
        #expect(try watcher.recipient().suite == .p256)
    }

    /// A file comes from another party. A recipient's private key in it is a mistake, and a published sender key can't sign.
    @Test("a JWK set whose keys can't seal is refused at the start; a published one gives its primary")
    func sets() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/keys.json"
        func watch(_ keyset: Keyset) throws -> Watch {
            try FileSystem.replace(path, with: keyset.jwkSet(withHistory: true))
            return try Watch(KeysetPlace(file: path))
        }
        let (recipients, senders) = (try KeysetFiles(.recipient, psk: true).keyset, try KeysetFiles(.sender).keyset)
        expectKeyError(.wrongKind) { try watch(recipients) }
        expectKeyError(.pskMissing) { try watch(recipients.publicKeyset(keepingPSK: false)) }
        expectKeyError(.wrongKind) { try watch(senders.publicKeyset(keepingPSK: false)) }
        #expect(try watch(senders).watcher.senderKey().kid == senders.keyIDs[0])
        let push = try watch(recipients.publicKeyset(keepingPSK: true)).seal()
        #expect(try Operator.open(push, with: recipients, at: Operator.start) == Watch.payload)
    }
}

/// What `Keyset(file:)` refuses, its tests show. The watcher reads the file in the same way.
@Suite("KeysetWatcher's first file") struct LoadingTests {
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
            expectKeystoreError(.demoKeys) { try KeysetWatcher(file: path, secret: secret) }
            let watcher = try KeysetWatcher(file: path, secret: secret, allowsDemoKeys: true)
            #expect(try watcher.recipient().suite == .shared)
        }
    }

    @Test("a published file may be readable for all users", arguments: [0o604, 0o602, 0o660, 0o666, 0o644])
    func publishedFile(mode: Int) throws {
        let senders = try KeysetFiles(.sender).keyset.publicKeyset(keepingPSK: false)
        try FileSystem.replace(path, with: senders.jwkSet(withHistory: true), mode: mode)
        #expect(try Keyset(file: path).kind == .sender)
    }
}
