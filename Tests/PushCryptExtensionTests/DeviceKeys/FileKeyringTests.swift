import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("FileKeyring") struct FileKeyringTests {
    private static let other = KeyID("AAAAAAAAAAA")!
    private let place = TestKeyring()

    @Test("a push to the registered pair opens", arguments: [Suite.p256, .x25519], [true, false])
    func opens(_ suite: Suite, withPSK: Bool) throws {
        let record = try place.register(.init(suite: suite, withPSK: withPSK))
        let push = try TestPush.open(TestPush.sealed(to: record), with: place.keyring).get()
        #expect(push.payload.text == TestPush.json)
        #expect(String(decoding: Array(record.jwk.bytes), as: UTF8.self).contains("\"psk\"") == withPSK)
    }

    @Test("keys are found by id in files of mode 0600, and missing keys or a missing folder throw unknownKey")
    func matrix() throws {
        expectNoKey(.unknownKey, Self.other, in: place.keyring)
        #expect(try place.keyring.keyIDs() == [])
        let kid = try place.register().kid
        _ = try place.keyring.key(kid, at: TestKeyring.now)
        expectNoKey(.unknownKey, Self.other, in: place.keyring)
        #expect(try place.keyring.keyIDs() == [kid])
        #expect(try place.names() == ["\(kid).jwks.json"])
        #expect(try place.folder.mode(of: TestKeyring.name) == 0o700)
        #expect(try place.folder.mode(of: place.file(kid)) == 0o600)
    }

    @Test("a key opens according to the times of its lifecycle") func lifecycle() throws {
        let (kid, now) = (try place.register().kid, TestKeyring.now)
        try place.keyring.update(kid, to: KeyLifecycle(expiresAt: now + 10), at: now)
        _ = try place.keyring.key(kid, at: now + 9)
        expectNoKey(.keyExpired, kid, in: place.keyring, at: now + 10)
        try place.keyring.update(kid, to: KeyLifecycle(revokedAt: now), at: now)
        expectNoKey(.keyRevoked, kid, in: place.keyring, at: now)
        // If the clock is set back, the key stays revoked: the file contains the time of its last write.
        expectNoKey(.keyRevoked, kid, in: place.keyring, at: now - 1_000)
        // A caller that doesn't know the revocation can't revert it.
        try place.keyring.update(kid, to: KeyLifecycle(revokedAt: now + 50), at: now)
        try place.keyring.update(kid, to: KeyLifecycle(), at: now)
        #expect(try place.keyring.load(kid).lifecycle.revokedAt == now)
    }

    @Test("a stored key of suite 3 opens where the system has it; elsewhere it is kept, and another pair is made")
    func unsupportedSuite() throws {
        let backend = try #require(Backends.supporting(.xWing).last).backend
        let record = try KeyRecord.generate(.recipient, type: .xWing, psk: false, backend: backend)
        let lifecycle = KeyLifecycle(createdAt: TestKeyring.now, activatesAt: TestKeyring.now)
        try place.keyring.add(DeviceKey(record, lifecycle, writtenAt: TestKeyring.now))
        let made = try place.identity().makeIfNeeded()
        guard !Suite.xWing.isAvailable else {
            _ = try place.keyring.key(record.kid, at: TestKeyring.now)
            #expect(made.kid == record.kid)
            return
        }
        expectDeviceKeyError(.unsupportedSuite) { try place.keyring.load(record.kid) }
        #expect(made.kid != record.kid)
        #expect(try place.keyring.keyIDs() == [made.kid, record.kid].sorted())
        let envelope = #"{"v":1,"kid":"\#(record.kid)","sealed":"AAAA"}"#
        let alert = #"{"aps":{"alert":"-","mutable-content":1},"pushcrypt":\#(envelope)}"#
        #expect(throws: FailureClass.unsupportedSuite) {
            try TestPush.open(Array(alert.utf8), with: place.keyring).get()
        }
    }

    @Test(
        "a damaged key file throws damaged and is kept", arguments: ["", "{", "{}", "[]", "\u{0}", "another", "other"])
    func damaged(_ text: String) throws {
        let kid = try place.register().kid
        let whole = try place.text(kid)
        let other = TestKeyring()
        let written =
            switch text {
            case "another": whole.replacingOccurrences(of: kid.description, with: "AAAAAAAAAAA")
            case "other": try other.text(other.register().kid)
            default: text
            }
        try place.write(written, as: kid)
        expectNoKey(.unknownKey, kid, in: place.keyring)
        expectDeviceKeyError(.damaged) { try place.keyring.load(kid) }
        #expect(try place.text(kid) == written)
        try place.write(whole, as: kid)
        _ = try place.keyring.key(kid, at: TestKeyring.now)
    }

    @Test("a key file truncated at any length throws damaged") func cutOff() throws {
        let kid = try place.register().kid
        let whole = try place.text(kid)
        for count in stride(from: 0, to: whole.utf8.count - 2, by: 7) {
            try place.write(String(whole.prefix(count)), as: kid)
            expectDeviceKeyError(.damaged, "\(count) bytes") { try place.keyring.load(kid) }
        }
    }

    @Test(
        "a key file that other users can access, or a folder that they can write in, is refused",
        arguments: [0o640, 0o604, 0o620, 0o602, 0o666].map { ($0, false) } + [0o770, 0o702, 0o777].map { ($0, true) })
    func loose(_ mode: Int, isFolder: Bool) throws {
        let kid = try place.register().kid
        let name = isFolder ? TestKeyring.name : place.file(kid)
        try place.folder.setMode(mode, of: name)
        expectNoKey(.internalError, kid, in: place.keyring)
        expectDeviceKeyError(.insecure) { try place.identity().makeIfNeeded() }
        try place.folder.setMode(isFolder ? 0o755 : 0o600, of: name)
        _ = try place.keyring.key(kid, at: TestKeyring.now)
    }

    @Test(
        "a file or folder of another user is refused, even by root",
        .enabled(if: geteuid() == 0, "only root can give files away"), arguments: [true, false])
    func owner(isFolder: Bool) throws {
        let kid = try place.register().kid
        let path = isFolder ? place.path : place.folder.path + "/" + place.file(kid)
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        expectNoKey(.internalError, kid, in: place.keyring)
        expectDeviceKeyError(.insecure) { try place.identity().makeIfNeeded() }
        let error = #expect(throws: DeviceKeyError.self) { try place.keyring.load(kid) }
        #expect(error?.reason.hasPrefix("\(path) belongs to user 65534") == true)
        try #require(unsafe chown(path, 0, 0) == 0)
        _ = try place.keyring.key(kid, at: TestKeyring.now)
    }

    @Test("symbolic links in place of the file or the folder are refused") func links() throws {
        let kid = try place.register().kid
        let (file, moved) = (place.folder.file(place.file(kid)), place.folder.file("moved"))
        try FileManager.default.moveItem(at: file, to: moved)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: moved)
        expectNoKey(.internalError, kid, in: place.keyring)
        try FileManager.default.createSymbolicLink(
            at: place.folder.file("linked"), withDestinationURL: URL(fileURLWithPath: place.path))
        expectNoKey(.internalError, kid, in: FileKeyring(folder: place.folder.path + "/linked"))
    }

    @Test("adding another key with the same id throws conflict, and the stored key stays unchanged")
    func conflict() throws {
        let key = try place.keyring.load(place.register().kid)
        try place.keyring.add(key)
        let before = try place.text(key.kid)
        try place.keyring.add(try key.changed(to: KeyLifecycle(), at: TestKeyring.now + 1))
        #expect(try place.text(key.kid) == before)
        // The same pair with another psk is another key.
        let without = try key.replacing(key.record.publicRecord(keepingPSK: false))
        expectDeviceKeyError(.conflict) { try place.keyring.add(without) }
        #expect(try place.text(key.kid) == before)
    }

    @Test("a removed key is gone, and removing it again does nothing") func removed() throws {
        try place.keyring.remove(Self.other)
        let kid = try place.register().kid
        try place.keyring.remove(kid)
        try place.keyring.remove(kid)
        expectNoKey(.unknownKey, kid, in: place.keyring)
        expectDeviceKeyError(.notFound) { try place.keyring.update(kid, to: KeyLifecycle(), at: TestKeyring.now) }
        #expect(try place.names() == [])
    }

    @Test("the next change removes unfinished files of a crash") func leftovers() throws {
        let kid = try place.register().kid
        try Data("{".utf8).write(to: place.folder.file("\(place.file(kid)).new-AAAAAAAAAAAA"))
        #expect(try place.keyring.keyIDs() == [kid])
        _ = try place.identity().rotate()
        #expect(try place.names().filter { $0.contains(".new-") } == [])
    }

    @Test("adding a key fails if the parent folder doesn't exist") func noParent() throws {
        let keyring = FileKeyring(folder: try TemporaryFolder().path + "/missing/keys")
        expectDeviceKeyError(.failed) { try DeviceIdentity(storage: keyring).makeIfNeeded() }
    }
}

/// The files of an app of version 0 in Conformance/vectors/Install/version-0, as an app leaves them on a device.
///
/// ```
/// keychain/KID.jwks.json      two keys: one that was replaced 20 days later, and the present one
/// group/registration.json     the digest of the last upload, and when the set of sender keys was fetched
/// group/sender-set-SET.json   the second signed set, which revokes "other sender"
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

    private func pins() throws -> SenderPins {
        try SenderPins(folder: group, publishers: .test(), topic: TestPush.topic)
    }

    private func result(
        of name: String, _ senders: SenderTrust, at time: UnixTime = now
    ) throws -> Result<OpenedPush, FailureClass> {
        let payload = Array(try Data(contentsOf: Vectors.own("Install/version-0/\(name).json")))
        return try Opener(topic: TestPush.topic, keyring: keyring, senders: senders).open(payload, at: time)
    }

    private func trust() throws -> SenderTrust { .pinned(try pins()) }

    @Test("pushes to both keys of version 0 are opened, and the pinned senders are trusted")
    func opens() throws {
        for name in ["push", "earlier-push"] {
            #expect(try result(of: name, trust()).get().content.title.literal == "Zoë", "\(name)")
        }
    }

    @Test(
        "an older set than that of version 0 is refused, and a later one that lists a revoked sender leaves it revoked")
    func revocation() throws {
        let older = TestSenderSet(sequence: 1)
        expectDeviceKeyError(.rolledBack) { try pins().accept(older.document(), at: Self.now) }
        #expect(try result(of: "revoked-sender-push", trust()).failure == .keyRevoked)
        #expect(try pins().version()?.sequence == 2)
        let later = TestSenderSet(keys: TestSenderSet.both, sequence: 3)
        #expect(try pins().accept(later.document(), at: Self.now))
        #expect(try result(of: "revoked-sender-push", trust()).failure == .keyRevoked)
        #expect(try result(of: "push", trust()).failure == nil)
    }

    @Test("the registration of version 0 isn't uploaded again, and a new token is uploaded with the same key")
    func registration() async throws {
        let (uploads, fetches) = (Locked<[PushRegistration.Upload]>([]), Locked(0))
        let senders = PushRegistration.SenderSet(pins: try pins()) {
            fetches.withLock { $0 += 1 }
            return Data()
        }
        let registration = PushRegistration(
            identity: DeviceIdentity(storage: keyring, clock: { Self.now }), folder: group, senders: senders,
            clock: { Self.now }, upload: { upload in uploads.withLock { $0.append(upload) } })
        #expect(try await !registration.register(deviceToken: Self.token, account: "zoë").isUploaded)
        #expect(uploads.withLock { $0.isEmpty } && fetches.withLock { $0 } == 0)
        #expect(try await registration.register(deviceToken: Data([0x0b]), account: "zoë").isUploaded)
        let kid = try result(of: "push", trust()).get().kid
        #expect(uploads.withLock { $0.map(\.kid) } == [kid])
    }

    @Test("a key of version 0 is replaced, opens for 30 more days, and is removed with its file")
    func rotation() throws {
        let old = try #require(try DeviceIdentity(storage: keyring, clock: { Self.now }).current()).kid
        let time = Self.now + 86_400
        let identity = DeviceIdentity(storage: keyring, clock: { time })
        let new = try identity.rotate()
        try identity.confirmRegistered(new)
        #expect(try new.kid != old && identity.current()?.kid == new.kid)
        let senders = try trust()
        #expect(try result(of: "push", senders, at: time).failure == nil)
        try keyring.remove(old)
        let kids = try keyring.keyIDs()
        #expect(kids.contains(new.kid) && !kids.contains(old))
        #expect(try result(of: "push", senders, at: time).failure == .unknownKey)
    }
}
