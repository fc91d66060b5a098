import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// The files of an app of version 0 in Tests/Vectors/Install/version-0, as an app leaves them on a device.
///
/// ```
/// keychain/KID.jwks.json      two keys: one that was replaced 20 days later, and the present one
/// group/registration.json     the digest of the last upload, and when the set of sender keys was fetched
/// group/sender-set-SET.json   the second signed set, which revokes "other sender"
/// group/senders.json          the same keys as an unsigned set, pinned after a first set without "other sender"
/// push.json                   signed by "sender", to the present key; earlier-push.json to the replaced key
/// revoked-sender-push.json    signed by "other sender", to the present key
/// ```
@Suite struct ExistingInstallTests {
    private static let now = TestPush.now
    private static let token = Data([0x0a, 0xff])
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
        let files = FileManager.default
        for name in ["keychain", "group"] {
            try files.copyItem(at: Vectors.own("Install/version-0/\(name)"), to: place.url.appendingPathComponent(name))
            // A copy from the repository doesn't keep these modes, which the app's files have.
            try place.setMode(0o700, of: name)
            for file in try place.names(in: name) { try place.setMode(0o600, of: "\(name)/\(file)") }
        }
    }

    private var keyring: FileKeyring { FileKeyring(folder: place.path + "/keychain") }
    private var group: String { place.path + "/group" }

    private func signedPins() throws -> SenderPins {
        try SenderPins(folder: group, publishers: .test(), topic: TestPush.topic)
    }

    private func result(
        of name: String, _ senders: SenderTrust, at time: UnixTime = now
    ) throws -> Result<OpenedPush, FailureClass> {
        let payload = Array(try Data(contentsOf: Vectors.own("Install/version-0/\(name).json")))
        return try Opener(topic: TestPush.topic, keyring: keyring, senders: senders).open(payload, at: time)
    }

    private func trusts() throws -> [SenderTrust] {
        [.pinned(try signedPins()), .pinned(UnsignedSenderPins(folder: group))]
    }

    @Test("pushes to both keys of version 0 are opened, and the pinned senders are trusted")
    func opens() throws {
        for senders in try trusts() {
            for name in ["push", "earlier-push"] {
                #expect(try result(of: name, senders).get().content.title.literal == "Zoë", "\(name)")
            }
        }
    }

    @Test(
        "an older set than that of version 0 is refused, and a later one that lists a revoked sender leaves it revoked")
    func revocation() throws {
        let older = TestSenderSet(sequence: 1)
        expectDeviceKeyError(.rolledBack) { try signedPins().accept(older.document(), at: Self.now) }
        expectDeviceKeyError(.rolledBack) { try UnsignedSenderPins(folder: group).update(json: older.unsigned()) }
        let later = TestSenderSet(keys: TestSenderSet.both, sequence: 3)
        for senders in try trusts() { #expect(try result(of: "revoked-sender-push", senders).failure == .keyRevoked) }
        #expect(try signedPins().version()?.sequence == 2)
        #expect(try UnsignedSenderPins(folder: group).sequence() == 2)
        #expect(try signedPins().accept(later.document(), at: Self.now))
        #expect(try UnsignedSenderPins(folder: group).update(json: later.unsigned()))
        for senders in try trusts() {
            #expect(try result(of: "revoked-sender-push", senders).failure == .keyRevoked)
            #expect(try result(of: "push", senders).failure == nil)
        }
    }

    @Test("the registration of version 0 isn't uploaded again, and a new token is uploaded with the same key")
    func registration() async throws {
        let (uploads, fetches) = (Locked<[PushRegistration.Upload]>([]), Locked(0))
        let senders = PushRegistration.SenderSet(pins: try signedPins()) {
            fetches.withLock { $0 += 1 }
            return Data()
        }
        let registration = PushRegistration(
            identity: DeviceIdentity(storage: keyring, clock: { Self.now }), folder: group, senders: senders,
            clock: { Self.now }, upload: { upload in uploads.withLock { $0.append(upload) } })
        #expect(try await !registration.register(deviceToken: Self.token, account: "zoë").isUploaded)
        #expect(uploads.withLock { $0.isEmpty } && fetches.withLock { $0 } == 0)
        #expect(try await registration.register(deviceToken: Data([0x0b]), account: "zoë").isUploaded)
        let kid = try result(of: "push", try trusts()[1]).get().kid
        #expect(uploads.withLock { $0.map(\.kid) } == [kid])
    }

    @Test("a key of version 0 is replaced, opens for 30 more days, and is removed with its file")
    func rotation() throws {
        let old = try #require(try DeviceIdentity(storage: keyring, clock: { Self.now }).current()).kid
        let time = Self.now + 86_400
        let identity = DeviceIdentity(storage: keyring, clock: { time })
        let new = try identity.rotate().kid
        try identity.confirmRegistered(new)
        #expect(try new != old && identity.current()?.kid == new)
        let senders = try trusts()[1]
        #expect(try result(of: "push", senders, at: time).failure == nil)
        try keyring.remove(old)
        let kids = try keyring.keyIDs()
        #expect(kids.contains(new) && !kids.contains(old))
        #expect(try result(of: "push", senders, at: time).failure == .unknownKey)
    }
}
