import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Security
import Testing

/// An access group of the stub keychain that only one test uses.
struct TestKeychain {
    static let (now, topic) = (UnixTime(1_800_000_000), "com.example.app")
    let group = "TEAMID.\(UUID().uuidString)"
    let usesSecureEnclave: Bool

    var keyring: KeychainKeyring { KeychainKeyring(accessGroup: group, usesSecureEnclave: usesSecureEnclave) }

    func identity(suite: Suite = .p256, withPSK: Bool = true, at time: UnixTime = now) -> DeviceIdentity {
        DeviceIdentity(storage: keyring, options: .init(suite: suite, withPSK: withPSK), clock: { time })
    }

    func register() throws -> RegistrationRecord {
        let record = try identity().makeIfNeeded()
        try identity().confirmRegistered(record.kid)
        return record
    }

    func set(_ condition: StubKeychain.Condition) {
        StubKeychain.shared.setCondition(condition, ofGroup: group)
    }

    var items: [[String: Any]] { StubKeychain.shared.items(inGroup: group) }
    var passwords: [[String: Any]] {
        items.filter { $0[kSecAttrAccount as String] as? String != "probe" && !Self.isKey($0) }
    }
    var enclaveKeys: [[String: Any]] { items.filter(Self.isKey) }

    private static func isKey(_ item: [String: Any]) -> Bool {
        item[kSecClass as String] as? String == kSecClassKey as String
    }

    func text(_ kid: KeyID) throws -> String {
        let item = try #require(passwords.first { $0[kSecAttrAccount as String] as? String == kid.description })
        return String(decoding: try #require(item[kSecValueData as String] as? Data), as: UTF8.self)
    }

    /// Seals a push to the record and opens it with the keyring.
    func open(_ record: RegistrationRecord) throws -> Result<OpenedPush, FailureClass> {
        let sealer = try Sealer(topic: Self.topic, clock: { Self.now })
        let push = try sealer.seal(
            Array(#"{"aps":{"alert":"Zoë"}}"#.utf8), to: Recipient(jwk: Array(record.jwk.bytes)),
            placeholder: .literal(title: "New message", body: nil))
        return try Opener(topic: Self.topic, keyring: keyring, senders: .unsigned).open(Array(push.json), at: Self.now)
    }

    func expectNoKey(
        _ expected: FailureClass, _ kid: KeyID, location: SourceLocation = #_sourceLocation
    ) {
        do throws(FailureClass) {
            _ = try keyring.key(kid, at: Self.now)
            Issue.record("found", sourceLocation: location)
        } catch {
            #expect(error == expected, sourceLocation: location)
        }
    }
}

func expectDeviceKeyError(
    _ code: DeviceKeyError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) {
    let error = #expect(throws: DeviceKeyError.self, sourceLocation: location) { _ = try body() }
    if let error {
        #expect(error.code == code, "\(error)", sourceLocation: location)
    }
}
