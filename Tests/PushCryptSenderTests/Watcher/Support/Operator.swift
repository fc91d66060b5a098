import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A keyset of a keystore in its own folder, and the operator who changes it.
struct Operator {
    static let start = UnixTime(1_800_000_000)
    private static let actor = Actor(name: "operator", reason: nil)

    let folder: TemporaryFolder
    let secret: KeysetSecret?
    let clock = TestClock(start)

    init(
        _ kind: KeyKind = .shared, type: KeyPairType = .p256, psk: Bool = false,
        under protection: Protection = .plaintext,
        _ secret: KeysetSecret? = nil
    ) throws {
        folder = try TemporaryFolder()
        self.secret = secret
        try KeysetStore(path).create(
            KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared), .standard, protection,
            secret, at: Self.start, by: Self.actor)
    }

    var path: String { folder.path + "/Keys/push" }
    var filePath: String { path + "/keyset.json" }

    /// Changes the keyset as the command line does.
    @discardableResult
    func change<Result>(_ body: (inout KeysetEditor) throws -> Result) throws -> Result {
        try Self.change(KeysetStore(path), at: clock.now, secret, body)
    }

    /// Adds a key that seals at once, a second later. The old key continues to open.
    @discardableResult
    func rotate() throws -> KeyID {
        clock.now = clock.now + 1
        return try Self.rotate(KeysetStore(path), at: clock.now, secret)
    }

    /// Adds a key that seals from `activatesAt` on.
    func add(activatesAt: UnixTime?) throws -> KeyID { try change { try $0.add(activatesAt: activatesAt) } }

    private static func change<Result>(
        _ store: KeysetStore, at time: UnixTime, _ secret: KeysetSecret?,
        _ body: (inout KeysetEditor) throws -> Result
    ) throws -> Result {
        try store.change(at: time, by: actor, SecretSource(secret), body).result
    }

    @discardableResult
    private static func rotate(_ store: KeysetStore, at time: UnixTime, _ secret: KeysetSecret?) throws -> KeyID {
        try change(store, at: time, secret) { editor in
            let kid = try editor.add(activatesAt: nil)
            try editor.promote(kid, force: true)
            return kid
        }
    }

    var copyPath: String { folder.path + "/copy" }

    /// The keyset in another folder, rotated there a second later.
    ///
    /// - Returns: the folder's path.
    func rotatedCopy() throws -> String {
        clock.now = clock.now + 1
        try FileManager.default.copyItem(atPath: path, toPath: copyPath)
        try folder.setMode(0o700, of: "copy")
        try Self.rotate(KeysetStore(copyPath), at: clock.now, secret)
        return copyPath
    }

    func text() throws -> [UInt8] { try FileSystem.readFile(filePath) }

    func write(_ text: [UInt8]) throws { try FileSystem.replace(filePath, with: text) }

    /// The text of the keyset after a change that no command makes.
    func edited(_ body: (inout StoredKeyset) throws -> Void) throws -> [UInt8] {
        var stored = try KeysetFolder(path).file().unlocked(SecretSource(secret))
        try body(&stored)
        return try stored.fileText()
    }

    func keyset() throws -> Keyset { try Keyset(folder: path, secret: secret) }

    /// Opens a push with the keyset's keys at the clock's time.
    func open(_ push: SealedPush, device: DeviceID? = nil) throws -> String {
        try Self.open(push, with: device.map { try keyset().device($0) } ?? keyset(), at: clock.now)
    }

    static func open(_ push: SealedPush, with keys: Keyset, at time: UnixTime) throws -> String {
        let opener = try Opener(topic: Watch.topic, keyring: KeysetKeyring(keys), senders: .unsigned)
        return String(decoding: try opener.open(Array(push.json), at: time).get().payload, as: UTF8.self)
    }
}
