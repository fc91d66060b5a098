import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A keyset's file in its own folder, and the operator who changes it.
final class Operator: Sendable {
    static let start = KeysetFiles.start

    let folder: TemporaryFolder
    let secret: KeysetSecret?
    let clock = TestClock(start)
    /// The keyset before all changes.
    let first: KeysetFiles
    private let last: Locked<KeysetFiles>

    init(
        _ kind: KeyKind = .shared, _ secret: KeysetSecret? = nil, type: KeyPairType = .p256, psk: Bool = false
    ) throws {
        folder = try TemporaryFolder()
        self.secret = secret
        first = try KeysetFiles(kind, secret, type: type, psk: psk)
        last = Locked(first)
        try write(files.file)
    }

    /// As a program names it.
    var path: String { folder.path + "/push" }
    var filePath: String { path + ".keyset" }
    /// The keyset after the last change.
    var files: KeysetFiles { last.withLock { $0 } }
    var keyset: Keyset { get throws { try files.keyset } }

    func write(_ text: [UInt8]) throws { try FileSystem.replace(filePath, with: text) }

    /// Writes the keyset after a change. The clock isn't before its last line.
    @discardableResult
    func change(_ body: (KeysetFiles) throws -> KeysetFiles) throws -> KeysetFiles {
        let next = try body(files)
        last.withLock { $0 = next }
        clock.now = max(clock.now, next.log.state.at)
        try write(next.file)
        return next
    }

    /// Adds a key that seals at once, a second later. The old key continues to open.
    @discardableResult
    func rotate() throws -> KeyID { try add(activatesAt: clock.now + 1) }

    /// Adds a key that seals from `activatesAt` on.
    @discardableResult
    func add(activatesAt: UnixTime) throws -> KeyID {
        let kids = try change { try $0.rotated(sealsAfter: activatesAt.seconds - $0.log.state.at.seconds - 1) }.kids
        return kids[kids.count - 1]
    }

    /// Opens a push with the keyset's keys at the clock's time.
    func open(_ push: SealedPush, device: DeviceID? = nil) throws -> String {
        try Self.open(push, with: device.map { try keyset.device($0) } ?? keyset, at: clock.now)
    }

    static func open(_ push: SealedPush, with keys: Keyset, at time: UnixTime) throws -> String {
        let opener = try Opener(topic: Watch.topic, keyring: KeysetKeyring(keys), senders: .unsigned)
        return String(decoding: try opener.open(Array(push.json), at: time).get().payload, as: UTF8.self)
    }
}

/// A clock that only the test moves.
final class TestClock: Sendable {
    private let seconds: Locked<Int64>

    init(_ time: UnixTime) {
        seconds = Locked(time.seconds)
    }

    var now: UnixTime {
        get { UnixTime(seconds.withLock { $0 }) }
        set { seconds.withLock { $0 = newValue.seconds } }
    }
}

extension KeysetSecret {
    static func test(_ passphrase: String) -> KeysetSecret {
        let bytes = Array(passphrase.utf8)
        return .passphrase(SecretBytes(copying: bytes.bytes))
    }
}
