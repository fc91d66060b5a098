import Foundation
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// A phone with keys of one day, and its backend. Each test is a mishap, and what the user sees of it.
@Suite("lives of a phone with day keys") struct DayKeyLivesTests {
    private static let (topic, text, day) = ("com.example.app", "Zoë", Int64(86_400))

    /// The app, its extension and the backend's row.
    private final class Phone: Sendable {
        let folder: TemporaryFolder
        let clock = SimulatedClock(startingAt: UnixTime(1_800_000_000))
        let device: SimulatedDevice
        let row = Locked<StoredRegistration?>(nil)

        init() async throws {
            folder = try TemporaryFolder()
            let path = folder.path
            device = SimulatedDevice(topic: topic, clock: clock) { _ in
                var configuration = try ExtensionConfiguration(
                    topic: topic, keyring: FileKeyring(folder: path + "/keys", period: .days(1)), senders: .unsigned,
                    fallback: .outerAlert(orElse: .standard))
                configuration.store = SharedStore(folder: path + "/store", role: .extension)
                return configuration
            }
            _ = try await device.center.requestAuthorization([.alert])
            try launch()
        }

        var identity: DeviceIdentity {
            DeviceIdentity(
                storage: FileKeyring(folder: folder.path + "/keys", period: .days(1)),
                clock: { [device] in device.time })
        }

        /// The app starts. The backend stores the upload, unless it refuses it.
        func launch() throws {
            let record = try identity.makeIfNeeded()
            if !record.isConfirmed {
                try store(record)
                try identity.confirmRegistered(record, answeredAt: clock.time)
            }
            try identity.eraseExpired(highestIssuedAt: nil)
            try identity.prune()
        }

        func store(_ record: RegistrationRecord) throws {
            let registration = try Registration(json: record.requestBody, requiring: [.psk, .asymmetric])
            let upload = StoredRegistration(registration, account: "a", deviceToken: "t")
            _ = try RegistrationChange(
                storing: upload, over: row.withLock { [$0].compactMap(\.self) }, isProven: false)
            row.withLock { $0 = upload }
        }

        func seal() throws -> SealedPush {
            let row = try #require(row.withLock { $0 })
            let sealer = try Sealer(topic: topic, clock: { [clock] in clock.time })
            return try sealer.seal(
                PushNotification(title: text), to: Recipient(row.registration), placeholder: .standard)
        }

        /// What the user sees of a push: its title, or nil for the placeholder.
        func see(_ push: SealedPush? = nil) async throws -> String? {
            let reception = await device.receive(try push?.bytes ?? seal().bytes)
            return reception.isRestored ? reception.content?.title.literal : nil
        }

        func pass(days: Double) { clock.advance(by: .seconds(days * 86_400)) }

        var kid: KeyID? { row.withLock { $0?.kid } }
    }

    @Test(
        "a phone that was off for three weeks shows the next push by its last-resort key, and the app renews the record"
    )
    func offForThreeWeeks() async throws {
        let phone = try await Phone()
        let first = phone.kid
        phone.device.goOffline()
        phone.pass(days: 1)
        let late = try phone.seal()
        let headers = PushHeaders(topic: Self.topic, pushType: "alert", expiration: late.expiresAt)
        _ = await phone.device.receive(late.bytes, headers)
        phone.pass(days: 20)
        // The push has expired: APNs doesn't deliver it.
        #expect(await phone.device.goOnline() == nil)
        let push = try phone.seal()
        #expect(push.usesLastResortKey)
        #expect(try await phone.see(push) == Self.text)
        try phone.launch()
        #expect(phone.kid != first)
        #expect(try !phone.seal().usesLastResortKey)
        #expect(try await phone.see() == Self.text)
    }

    @Test("a phone whose clock is wrong by a day shows placeholders meanwhile, and loses no key", arguments: [-1, 1])
    func wrongClock(days: Int64) async throws {
        let phone = try await Phone()
        phone.device.clockError = .seconds(days * Self.day)
        #expect(try await phone.see() == nil)
        try phone.launch()
        #expect(try await phone.see() == nil)
        phone.pass(days: 0.9)
        phone.device.clockError = .zero
        #expect(try await phone.see() == Self.text)
        try phone.launch()
        #expect(try await phone.see() == Self.text)
    }

    @Test(
        "an app that was deleted and installed again shows pushes with the keys that stayed in the keychain"
    )
    func reinstallation() async throws {
        let phone = try await Phone()
        let kid = phone.kid
        #expect(try await phone.see() == Self.text)
        try FileManager.default.removeItem(atPath: phone.folder.path + "/store")
        phone.device.endExtensionProcess()
        phone.pass(days: 2)
        try phone.launch()
        #expect(phone.kid == kid)
        #expect(try await phone.see() == Self.text)
    }

    @Test(
        "a phone with its own backup shows placeholders for days that the backup lacks, until the app starts"
    )
    func restoration() async throws {
        let phone = try await Phone()
        let (keys, backup) = (phone.folder.path + "/keys", phone.folder.path + "/backup")
        try FileManager.default.copyItem(atPath: keys, toPath: backup)
        phone.pass(days: 10)
        try phone.launch()
        try FileManager.default.removeItem(atPath: keys)
        try FileManager.default.copyItem(atPath: backup, toPath: keys)
        // The backup has the keys of 14 days.
        #expect(try await phone.see() == Self.text)
        phone.pass(days: 5)
        #expect(try await phone.see() == nil)
        try phone.launch()
        #expect(try await phone.see() == Self.text)
    }

    @Test("another phone, to which keychain items of this device only don't come, registers a key of its own")
    func otherPhone() async throws {
        let phone = try await Phone()
        let kid = phone.kid
        try FileManager.default.removeItem(atPath: phone.folder.path + "/keys")
        #expect(try await phone.see() == nil)
        try phone.launch()
        #expect(phone.kid != kid)
        #expect(try await phone.see() == Self.text)
    }

    @Test("of two uploads that arrive in the wrong order the older one is refused, and pushes open by the newer one")
    func order() async throws {
        let phone = try await Phone()
        phone.pass(days: 1)
        let older = try phone.identity.makeIfNeeded()
        phone.pass(days: 1)
        let newer = try phone.identity.makeIfNeeded()
        try phone.store(newer)
        #expect(throws: SenderError.self) { try phone.store(older) }
        try phone.identity.confirmRegistered(older)
        #expect(try !phone.identity.makeIfNeeded().isConfirmed)
        phone.pass(days: 13)
        #expect(try !phone.seal().usesLastResortKey)
        #expect(try await phone.see() == Self.text)
    }

    @Test(
        "a backend that goes back to an old set seals to its days, and then to the last-resort key: all is shown"
    )
    func oldSet() async throws {
        let phone = try await Phone()
        let old = phone.row.withLock { $0 }
        phone.pass(days: 10)
        try phone.launch()
        phone.row.withLock { $0 = old }
        #expect(try !phone.seal().usesLastResortKey)
        #expect(try await phone.see() == Self.text)
        phone.pass(days: 5)
        #expect(try phone.seal().usesLastResortKey)
        #expect(try await phone.see() == Self.text)
    }
}
