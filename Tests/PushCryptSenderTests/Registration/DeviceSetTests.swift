import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A registration record with day keys. `DeviceSetVectorTests` has what a reader refuses.
@Suite("a record with day keys") struct DeviceSetTests {
    private static let (now, day) = (UnixTime(1_800_000_000), Int64(86_400))
    private static let midnight = UnixTime(1_800_000_000 / 86_400 * 86_400)
    private static let backend = DefaultBackend.shared
    private static let payload = #"{"aps":{"alert":"Zoë"}}"#

    let record: KeyRecord
    let keys: [KeyRecord]

    init() throws {
        record = try KeyRecord.generate(.recipient, psk: true, backend: Self.backend).publicRecord(keepingPSK: true)
        keys = try (0..<3).map { _ in try KeyRecord.generate(.recipient, backend: Self.backend) }
    }

    /// The text of the record with keys for three days.
    private func text(sequence: Int64? = 5, keys: [KeyRecord]? = nil) throws -> [UInt8] {
        var text = [UInt8]()
        try record.appendJWK(to: &text)
        guard let sequence else { return text }
        let listed = try (keys ?? self.keys).enumerated().map { index, key in
            var jwk = [UInt8]()
            try key.publicRecord(keepingPSK: false).appendJWK(to: &jwk)
            let start = Self.midnight + Int64(index) * Self.day
            return (jwk, DeviceSet.Days(kid: key.kid, activatesAt: start, retiresAt: start + Self.day))
        }
        let set = try DeviceSet.text(of: listed, sequence: sequence, flight: Self.day, for: record)
        text.removeLast()
        text += #","deviceSet":"#.utf8
        JSONWriter.appendString(utf8: set[...], to: &text)
        return text + Array("}".utf8)
    }

    private func registration(sequence: Int64? = 5, keys: [KeyRecord]? = nil) throws -> StoredRegistration {
        let registration = try Registration(json: text(sequence: sequence, keys: keys), requiring: .psk)
        return StoredRegistration(registration, account: "a", deviceToken: "t")
    }

    private func seal(
        at time: UnixTime, to recipient: Recipient? = nil, _ change: (inout Sealer.Options) -> Void = { _ in }
    ) throws -> (push: SealedPush, kid: KeyID) {
        let sealer = try Sealer(topic: "com.example.app", clock: { time })
        let push = try sealer.seal(Self.payload, to: recipient ?? Recipient(jwk: text()), changing: change)
        return (push, try OuterPayload(JSONText(push.bytes)).kid)
    }

    @Test(
        "one recipient seals each push to the key of its day, and then to the last-resort key, which the push and the observer tell"
    )
    func choice() throws {
        let recipient = try Recipient(registration().registration)
        for (index, key) in keys.enumerated() {
            let start = Self.midnight + Int64(index) * Self.day
            for time in [start, start + Self.day - 1] {
                let (push, kid) = try seal(at: time, to: recipient)
                #expect(kid == key.kid && !push.usesLastResortKey && push.expiresAt == time + Self.day)
            }
        }
        for time in [Self.midnight - 1, Self.midnight + 3 * Self.day] {
            let (push, kid) = try seal(at: time, to: recipient)
            #expect(kid == record.kid && push.usesLastResortKey && push.expiresAt == time + Self.day)
            expectSenderError(.noDayKey) { try seal(at: time, to: recipient) { $0.requiresDayKey = true } }
        }
        #expect(try !seal(at: Self.now, to: recipient) { $0.requiresDayKey = true }.push.usesLastResortKey)
        let seen = Locked<[Bool]>([])
        let sealer = try Sealer(
            topic: "com.example.app",
            observer: { observation in seen.withLock { $0.append(observation.usesLastResortKey) } },
            clock: { Self.midnight - 1 })
        _ = try sealer.seal(Self.payload, to: recipient)
        #expect(seen.withLock { $0 } == [true])
    }

    @Test(
        "a push that expires after the flight is refused as expiresTooLate, with a day key and with the last-resort key"
    )
    func expiry() throws {
        #expect(try Recipient(jwk: text()).longestLifetime == .seconds(Self.day))
        for time in [Self.now, Self.midnight - 1] {
            #expect(try seal(at: time) { $0.expiresAfter = .seconds(Self.day) }.push.expiresAt == time + Self.day)
            expectSenderError(.expiresTooLate) { try seal(at: time) { $0.expiresAfter = .seconds(Self.day + 1) } }
        }
        let plain = try Recipient(jwk: text(sequence: nil))
        #expect(try seal(at: Self.now, to: plain).push.expiresAt == Self.now + 30 * Self.day)
    }

    @Test("a campaign has one message id on all days, and as without day keys")
    func campaign() throws {
        var ids = Set([try seal(at: Self.now, to: Recipient(jwk: text(sequence: nil))) { $0.campaign = "c" }.push.id])
        for day in 0...3 as ClosedRange<Int64> {
            ids.insert(try seal(at: Self.now + day * Self.day) { $0.campaign = "c" }.push.id)
        }
        #expect(ids.count == 1)
    }

    @Test(
        "an upload with a higher seq, or without a set, replaces a stored one; a lower seq is rolledBack, the same with other keys conflict"
    )
    func changes() throws {
        let stored = try registration()
        func change(_ upload: StoredRegistration) throws -> Bool {
            try RegistrationChange(storing: upload, over: [stored], isProven: false).isWritten
        }
        #expect(try !change(stored) && change(registration(sequence: 6)) && change(registration(sequence: nil)))
        expectSenderError(.rolledBack) { try change(registration(sequence: 4)) }
        expectSenderError(.conflict) { try change(registration(keys: [keys[1]])) }
        #expect(stored.registration.dayKeysLeft(at: Self.midnight + Self.day) == 2)
        #expect(try registration(sequence: nil).registration.dayKeysLeft(at: Self.now) == nil)
    }

    @Test("a challenge is sealed to the key of the record") func challenge() throws {
        let sealer = try Sealer(topic: "com.example.app", clock: { Self.now })
        let challenge = try sealer.challenge(registration().registration, host: "push.example.com")
        #expect(try JSONText(Array(challenge.json)).root["kid"]?.string == record.kid.description)
    }

    @Test("a stored registration keeps its set, and the set's bytes don't count for the limit of a record")
    func storage() throws {
        let stored = try registration()
        #expect(try text(sequence: nil).count < 400 && text().count > 1_000)
        #expect(Recipient(stored.registration).longestLifetime == .seconds(Self.day))
        let long = try text().dropLast() + Array(#","note":"\#(String(repeating: "x", count: 3_900))"}"#.utf8)
        expectSenderError(.tooLarge) { try Registration(json: long, requiring: .psk) }
    }
}
