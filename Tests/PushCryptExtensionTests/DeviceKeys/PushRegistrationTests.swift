import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// An installation of an app: a keychain, which survives the deletion of the app, and an app group, which doesn't.
private final class Installation: Sendable {
    struct Offline: Error {}

    static let (now, day) = (TestPush.now, Int64(86_400))
    let folder: TemporaryFolder
    let uploads = Locked<[PushRegistration.Upload]>([])
    let fetchCount = Locked(0)
    let isOnline = Locked(true)
    let isLocked = Locked(false)
    let document: Locked<[UInt8]>
    private let time = Locked(now)

    init() throws {
        folder = try TemporaryFolder()
        document = Locked(try TestSenderSet().document())
    }

    var keychain: String { folder.path + "/keychain" }
    var keyring: FileKeyring { FileKeyring(folder: keychain) }
    var identity: DeviceIdentity { DeviceIdentity(storage: keyring, clock: { Self.now }) }
    var group: String { folder.path + "/group" }
    var store: SharedStore { SharedStore(folder: folder.path + "/store", role: .app) }
    var file: URL { folder.file("group/registration.json") }
    var uploaded: [PushRegistration.Upload] { uploads.withLock { $0 } }
    var keyCount: Int { Set(uploaded.map(\.kid)).count }

    func pins() throws -> SenderPins {
        try SenderPins(folder: group, publishers: .test(), topic: TestPush.topic)
    }

    func wait(days: Int64) { time.withLock { $0 = $0 + days * Self.day } }

    func registration(withSenders: Bool = false, store: SharedStore? = nil) throws -> PushRegistration {
        let clock: @Sendable () -> UnixTime = { [time] in time.withLock { $0 } }
        let senders =
            try withSenders
            ? PushRegistration.SenderSet(pins: pins()) { [fetchCount, isOnline, document] in
                guard isOnline.withLock({ $0 }) else { throw Offline() }
                fetchCount.withLock { $0 += 1 }
                return Data(document.withLock { $0 })
            } : nil
        let storage: any DeviceKeyStorage = isLocked.withLock { $0 } ? LockedKeyring() : keyring
        return PushRegistration(
            identity: DeviceIdentity(storage: storage, clock: clock), folder: group, senders: senders, store: store,
            clock: clock
        ) { [uploads, isOnline] upload in
            guard isOnline.withLock({ $0 }) else { throw Offline() }
            uploads.withLock { $0.append(upload) }
        }
    }

    /// Counts a push that the extension didn't restore.
    func fail(_ failure: FailureClass, kid: KeyID? = nil) throws {
        _ = try store.record(DeliveryRecord(report: .sample(failure, at: Self.now, kid: kid)))
    }

    func edit(_ name: String = "registration.json", _ change: (String) -> String) throws {
        let text = try String(contentsOf: folder.file("group/" + name), encoding: .utf8)
        try #require(change(text) != text)
        try Data(change(text).utf8).write(to: folder.file("group/" + name))
        try folder.setMode(0o600, of: "group/" + name)
    }
}

extension PushRegistration {
    /// - Returns: whether the record was uploaded.
    @discardableResult
    fileprivate func register(_ token: Data = Data([0x0a, 0xff]), account: String = "a") async throws -> Bool {
        try await register(deviceToken: token, account: account).isUploaded
    }
}

@Suite("PushRegistration") struct PushRegistrationTests {
    private static let token = Data([0x0a, 0xff])
    private let phone: Installation

    init() throws { phone = try Installation() }

    @Test("the first call uploads the record with token and account")
    func first() async throws {
        #expect(try await phone.registration().register(account: "zoë"))
        let upload = try #require(phone.uploaded.first)
        #expect(try Recipient(jwk: [UInt8](upload.record)).kid == upload.kid)
        #expect(upload.deviceToken == "0aff" && upload.account == "zoë" && upload.senderSetVersion == nil)
    }

    /// What happens after the first registration, and what the next one does.
    fileprivate struct Event: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var token = PushRegistrationTests.token
        var isRequested = false
        let isUploaded: Bool
        var hasNewKey = false
        /// Whether the sender keys are fetched, too.
        var isFetched = false
        /// Of the sender keys, whose set is valid for 60 days.
        var failure: DeviceKeyError.Code?
        var happen: @Sendable (Installation) throws -> Void = { _ in }
    }

    private static let events =
        [
            Event(testDescription: "nothing", isUploaded: false),
            Event(testDescription: "the backend asks for it", isRequested: true, isUploaded: true),
            Event(testDescription: "a new device token", token: Data([0x0b]), isUploaded: true),
            Event(testDescription: "a new installation with the keychain", isUploaded: true, isFetched: true) {
                try FileManager.default.removeItem(atPath: $0.group)
            },
            Event(testDescription: "a restoration without the keychain", isUploaded: true, hasNewKey: true) {
                try FileManager.default.removeItem(atPath: $0.keychain)
            },
            Event(testDescription: "89 days", isUploaded: false, isFetched: true, failure: .expired) {
                $0.wait(days: 89)
            },
            Event(testDescription: "90 days", isUploaded: true, hasNewKey: true, isFetched: true, failure: .expired) {
                $0.wait(days: 90)
            },
            // An earlier version wrote no account.
            Event(testDescription: "a file without an account", isUploaded: false) {
                try $0.edit { $0.replacing(/, "account": "[^"]*"/, with: "") }
            },
            Event(testDescription: "a new set of sender keys after a day", isUploaded: true, isFetched: true) { phone in
                phone.wait(days: 1)
                let next = try TestSenderSet(sequence: 2).document()
                phone.document.withLock { $0 = next }
            },
            Event(testDescription: "a damaged set of sender keys", isUploaded: false, isFetched: true) {
                try $0.edit(TestSenderSet.file) { _ in "{}" }
            },
            Event(testDescription: "a push of an unknown sender", isUploaded: false, isFetched: true) {
                try $0.fail(.unknownKey, kid: $0.uploaded[0].kid)
            },
        ]
        + ["", "{", "[]", #"{"digest": 1}"#].map { text in
            Event(testDescription: "the damaged file \(text)", isUploaded: true, isFetched: true) {
                try $0.edit { _ in text }
            }
        }

    @Test("a record is uploaded again, with the same or a new key, only after some events", arguments: events)
    fileprivate func again(_ event: Event) async throws {
        let app = try phone.registration(withSenders: true, store: phone.store)
        try await app.register()
        try event.happen(phone)
        let outcome = try await app.register(deviceToken: event.token, account: "a", isRequested: event.isRequested)
        #expect(outcome.isUploaded == event.isUploaded)
        #expect((outcome.senderSetFailure == nil) == (event.failure == nil))
        #expect((outcome.senderSetFailure as? DeviceKeyError)?.code == event.failure)
        let token = event.token == Self.token ? "0aff" : "0b"
        #expect(phone.uploaded.map(\.deviceToken) == ["0aff"] + (event.isUploaded ? [token] : []))
        // In the next process, too.
        for app in [app, try phone.registration(withSenders: true, store: phone.store)] {
            #expect(try await !app.register(event.token))
        }
        #expect(phone.keyCount == (event.hasNewKey ? 2 : 1))
        #expect(Set(phone.uploaded.map(\.record)).count == phone.keyCount)
        #expect(phone.fetchCount.withLock { $0 } == (event.isFetched ? 2 : 1))
        let version = try #require(try phone.pins().version())
        #expect(phone.uploaded.last?.senderSetVersion == Data(version.json))
    }

    @Test("another account without a sign-out erases the keys of the first and uploads another")
    func otherAccount() async throws {
        try await phone.registration().register()
        let push = try TestPush.sealed(to: #require(try phone.identity.current()))
        for _ in 1...2 { try await phone.registration().register(account: "b") }
        #expect(phone.uploaded.map(\.account) == ["a", "b"])
        #expect(phone.keyCount == 2)
        #expect(try phone.keyring.keyIDs() == [phone.uploaded[1].kid])
        #expect(try TestPush.open(push, with: phone.keyring).failure == .unknownKey)
    }

    @Test("a sign-out that fails because the keys are locked is completed later", arguments: [true, false])
    func failedSignOut(completes: Bool) async throws {
        try await phone.registration().register()
        phone.isLocked.withLock { $0 = true }
        let error = await #expect(throws: DeviceKeyError.self) { try await phone.registration().signOut() }
        #expect(error?.code == .locked)
        phone.isLocked.withLock { $0 = false }
        #expect(try phone.keyring.keyIDs().count == 1)
        // Another process, which knows of the sign-out from the file.
        let app = try phone.registration()
        if completes {
            try await app.completeSignOut()
            #expect(try phone.keyring.keyIDs().isEmpty)
            #expect(!FileManager.default.fileExists(atPath: phone.file.path))
        }
        try await app.register()
        #expect(phone.keyCount == 2)
        #expect(try phone.keyring.keyIDs() == [phone.uploaded[1].kid])
    }

    @Test("completeSignOut erases nothing while the user is signed in")
    func nothingToComplete() async throws {
        let app = try phone.registration()
        try await app.completeSignOut()
        try await app.register()
        try await app.completeSignOut()
        #expect(try phone.keyring.keyIDs().count == 1)
        #expect(try await !app.register())
    }

    @Test("signOut erases the keys and the digest, and the next account gets a new key")
    func signOut() async throws {
        let app = try phone.registration()
        try await app.register()
        try await app.signOut()
        #expect(try phone.keyring.keyIDs() == [])
        #expect(!FileManager.default.fileExists(atPath: phone.file.path))
        try await app.register(account: "b")
        #expect(phone.keyCount == 2)
        try await app.signOut()
        try await app.signOut()
    }

    /// The fields are hashed with their lengths.
    @Test("token 0a with account 0b and token 0a0b with an empty account are different uploads")
    func ambiguousFields() async throws {
        let app = try phone.registration()
        try await app.register(Data([0x0a]), account: "0b")
        #expect(try await app.register(Data([0x0a, 0x0b]), account: ""))
    }

    private func expectOffline(_ app: PushRegistration) async {
        await #expect(throws: Installation.Offline.self) { try await app.register() }
    }

    @Test("after a failed upload the error is thrown, and the next call uploads the same record")
    func offline() async throws {
        phone.isOnline.withLock { $0 = false }
        let app = try phone.registration()
        for _ in 0..<3 { await expectOffline(app) }
        phone.isOnline.withLock { $0 = true }
        let kids = try phone.keyring.keyIDs()
        try await app.register()
        #expect(phone.uploaded.map(\.kid) == kids)
    }

    @Test("a new key that couldn't be uploaded is uploaded later, and the earlier key opens until 30 days after that")
    func renewedOffline() async throws {
        let app = try phone.registration()
        try await app.register()
        phone.wait(days: 90)
        phone.isOnline.withLock { $0 = false }
        await expectOffline(app)
        phone.wait(days: 100)
        phone.isOnline.withLock { $0 = true }
        try await app.register()
        let kids = phone.uploaded.map(\.kid)
        try #require(kids.count == 2 && kids[0] != kids[1])
        let uploadTime = TestPush.now + 190 * Installation.day
        _ = try phone.keyring.key(kids[0], at: uploadTime + 30 * Installation.day)
        _ = try phone.keyring.key(kids[1], at: uploadTime)
        expectNoKey(.keyExpired, kids[0], in: phone.keyring, at: uploadTime + 31 * Installation.day)
    }

    @Test("after pushes to an unknown key a new key is registered, once a day at most")
    func recovers() async throws {
        let app = try phone.registration(store: phone.store)
        try await app.register()
        for isUploaded in [true, false] {
            try phone.fail(.unknownKey)
            #expect(try await app.register() == isUploaded)
        }
        #expect(phone.keyCount == 2)
    }

    @Test("pushes of an unsupported version and from before the unlock are returned as advice")
    func advice() async throws {
        let app = try phone.registration(store: phone.store)
        for failure in [FailureClass.unsupportedVersion, .keyLocked] { try phone.fail(failure) }
        #expect(try await app.register(deviceToken: Self.token, account: "a").advice == [.updateApp, .unlock])
    }

    @Test("a refused or failed set of sender keys is returned, and the record is uploaded")
    func refusedSenders() async throws {
        let (good, forged) = try (TestSenderSet().document(), TestSenderSet().document(by: .stranger))
        phone.document.withLock { $0 = forged }
        let app = try phone.registration(withSenders: true)
        let outcome = try await app.register(deviceToken: Self.token, account: "a")
        #expect((outcome.senderSetFailure as? DeviceKeyError)?.code == .notSigned)
        #expect(phone.uploaded.count == 1 && phone.uploaded[0].senderSetVersion == nil)
        // Without a trusted set it is fetched at every start.
        phone.document.withLock { $0 = good }
        #expect(try await app.register())
        #expect(phone.uploaded.last?.senderSetVersion != nil)
    }

    @Test("calls at the same time run one after the other, and the last one's token is uploaded last")
    func concurrentCalls() async throws {
        let app = try phone.registration()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for byte in 0..<20 as Range<UInt8> { group.addTask { try await app.register(Data([byte])) } }
            try await group.waitForAll()
        }
        #expect(phone.uploaded.count == 20 && phone.keyCount == 1)
        let last = try #require(phone.uploaded.last)
        #expect(try await !app.register(Data([UInt8(last.deviceToken, radix: 16) ?? 0])))
    }

    @Test("the file contains digests, no token and no account, and only its owner can read it")
    func file() async throws {
        try await phone.registration().register(Data([0xab, 0xcd]), account: "zoe@example.com")
        let text = String(decoding: try Data(contentsOf: phone.file), as: UTF8.self)
        #expect(!text.contains("zoe@") && !text.lowercased().contains("\"abcd"))
        #expect(text.wholeMatch(of: /\{"digest": "[A-Za-z0-9_-]{43}", "account": "[A-Za-z0-9_-]{43}"\}\n/) != nil)
        #expect(try phone.folder.mode(of: "group/registration.json") == 0o600)
    }

    @Test("before the first unlock the call throws locked, makes no key and uploads nothing")
    func locked() async throws {
        phone.isLocked.withLock { $0 = true }
        let app = try phone.registration()
        let error = await #expect(throws: DeviceKeyError.self) { try await app.register() }
        #expect(error?.code == .locked && phone.uploaded.isEmpty)
    }
}

private struct LockedKeyring: DeviceKeyStorage {
    private let locked = DeviceKeyError(.locked, "the device wasn't unlocked")

    func keyIDs() throws(DeviceKeyError) -> [KeyID] { throw locked }
    func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey { throw locked }
    func add(_ key: DeviceKey) throws(DeviceKeyError) { throw locked }
    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) { throw locked }
    func remove(_ kid: KeyID) throws(DeviceKeyError) { throw locked }
}
