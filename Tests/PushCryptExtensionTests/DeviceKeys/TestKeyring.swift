import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A keyring in a temporary folder, and the identity of an app whose clock the test sets.
final class TestKeyring: Sendable {
    let folder = TemporaryFolder.make()
    static let name = "keys"
    static let now = TestPush.now
    var path: String { folder.path + "/" + Self.name }
    let period: KeyPeriod
    var keyring: FileKeyring { FileKeyring(folder: path, period: period) }

    init(_ period: KeyPeriod = .renewed()) { self.period = period }

    func identity(_ options: DeviceIdentity.Options = .init(), at time: UnixTime = now) -> DeviceIdentity {
        DeviceIdentity(storage: keyring, options: options, clock: { time })
    }

    @discardableResult
    func register(_ options: DeviceIdentity.Options = .init(), at time: UnixTime = now) throws -> RegistrationRecord {
        let identity = identity(options, at: time)
        let record = try identity.makeIfNeeded()
        try identity.confirmRegistered(record)
        return try #require(try identity.current())
    }

    /// Makes a pair that follows the current one, and confirms its registration.
    @discardableResult
    func rotate(_ options: DeviceIdentity.Options = .init(), at time: UnixTime = now) throws -> RegistrationRecord {
        let record = try identity(options, at: time).rotate()
        try identity(options, at: time).confirmRegistered(record)
        return record
    }

    func names() throws -> [String] {
        FileManager.default.fileExists(atPath: path) ? try folder.names(in: Self.name) : []
    }

    func file(_ kid: KeyID) -> String { "\(Self.name)/\(kid).jwks.json" }

    func text(_ kid: KeyID) throws -> String {
        String(decoding: try Data(contentsOf: folder.file(file(kid))), as: UTF8.self)
    }

    func write(_ text: String, as kid: KeyID) throws {
        try Data(text.utf8).write(to: folder.file(file(kid)))
        try folder.setMode(0o600, of: file(kid))
    }
}

extension TestPush {
    /// Seals a push at ``now`` to the record, as a backend does.
    static func sealed(to record: RegistrationRecord) throws -> [UInt8] {
        try TestPush().seal(to: Recipient(jwk: Array(record.jwk.bytes))).bytes
    }

    static func open(
        _ payload: [UInt8], with keyring: any RecipientKeyring, at time: UnixTime = now
    ) throws -> Result<OpenedPush, FailureClass> {
        try Opener(topic: topic, keyring: keyring, senders: .unsigned).open(payload, at: time)
    }
}

func expectDeviceKeyError(
    _ code: DeviceKeyError.Code, _ comment: Comment? = nil, location: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) {
    expectCode(code, of: \DeviceKeyError.code, comment, location: location, body)
}

func expectNoKey(
    _ expected: FailureClass, _ kid: KeyID, in keyring: any RecipientKeyring, at time: UnixTime = TestPush.now,
    location: SourceLocation = #_sourceLocation
) {
    #expect(throws: expected, sourceLocation: location) { try keyring.key(kid, at: time) }
}
