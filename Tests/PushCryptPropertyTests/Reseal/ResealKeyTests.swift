import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import Testing

/// Which keys open, verify, seal and sign.
@Suite struct ResealKeyTests {
    private static let now = Rotation.now
    /// Every state that an old key can be in.
    private static let states: [(String, KeyLifecycle)] = [
        ("pending", KeyLifecycle(activatesAt: now + 60)), ("waiting", KeyLifecycle()),
        ("older", KeyLifecycle(activatesAt: UnixTime(0))), ("retiring", Rotation.retired),
        ("expired", KeyLifecycle(activatesAt: UnixTime(0), retiresAt: now - 120, expiresAt: now - 60)),
        ("revoked", KeyLifecycle(activatesAt: UnixTime(0), revokedAt: now - 60)),
    ]

    @Test("a push under an old key is resealed even if that key is expired or revoked", arguments: states, Rotation.all)
    func oldKey(state: (name: String, lifecycle: KeyLifecycle), rotation: Rotation) throws {
        let resealer = try Resealer(
            topic: Channel.topic, keyset: rotation.keyset(old: state.lifecycle),
            senders: rotation.isSigned ? rotation.senders(old: state.lifecycle) : nil, clock: { Self.now })
        let push = try resealer.reseal(try rotation.seal(), device: rotation.deviceID())
        let opener = try rotation.opener(Rotation.new, Rotation.newSender)
        #expect(throws: Never.self) { try opener.open(push.payload, at: Self.now).get() }
    }

    @Test(
        "a resealer reseals if only the sender key or only the shared key was rotated", arguments: [nil, "phone-1_A"])
    func oneOfTheTwo(device: String?) throws {
        let rotation = Rotation(device: device, isSigned: true)
        let resealer = try rotation.resealer()
        let opener = try rotation.opener(Rotation.new, Rotation.newSender)
        for (key, sender) in [(Rotation.new, Rotation.oldSender), (Rotation.old, Rotation.newSender)] {
            let push = try resealer.reseal(try rotation.seal(to: key, by: sender), device: rotation.deviceID())
            #expect(push.isChanged)
            #expect(throws: Never.self) { try opener.open(push.payload, at: Self.now).get() }
        }
    }

    @Test("a tampered push to the primary is refused although it needs no resealing", arguments: Rotation.all)
    func primaryTampered(rotation: Rotation) throws {
        let resealer = try rotation.resealer()
        let payload = try rotation.seal(to: Rotation.new, by: Rotation.newSender)
        let device = try rotation.deviceID()
        let push = try resealer.reseal(payload, device: device)
        #expect(push.payload == payload)
        #expect(!push.isChanged)
        expectSenderError(.undecryptable) { try resealer.reseal(tampered(payload), device: device) }
    }

    @Test("an unsigned push stays unsigned although the resealer has a sender key")
    func unsignedStaysUnsigned() throws {
        let rotation = Rotation(isSigned: false)
        let resealer = try Resealer(
            topic: Channel.topic, keyset: rotation.keyset(), senders: rotation.senders(), clock: { Self.now })
        let push = try resealer.reseal(try rotation.seal())
        #expect(OuterText(push.payload).member("skid") == nil)
        let opened = try rotation.opener(Rotation.new, "").open(push.payload, at: Self.now).get()
        #expect(opened.signedBy == nil)
    }

    @Test(
        "a push with the kid of another key of the set is refused although the right key is in the set",
        arguments: Rotation.all)
    func neverAnother(rotation: Rotation) throws {
        let (resealer, device) = (try rotation.resealer(), try rotation.deviceID())
        let queued = OuterText(try rotation.seal())
        let otherKey = queued.with("kid", TestKeys.kid(Rotation.new))
        expectSenderError(.undecryptable) { try resealer.reseal(otherKey.bytes, device: device) }
        guard rotation.isSigned else { return }
        let otherSender = queued.with("skid", TestKeys.kid(Rotation.newSender))
        expectSenderError(.undecryptable) { try resealer.reseal(otherSender.bytes, device: device) }
    }

    @Test(
        "a push to a master or to one of its devices is resealed only with the same key",
        arguments: [nil, "phone-1_A", "tablet-2"], [nil, "phone-1_A", "tablet-2"])
    func device(sealed: String?, named: String?) throws {
        for isSigned in [false, true] {
            let rotation = Rotation(device: sealed, isSigned: isSigned)
            let (resealer, queued) = (try rotation.resealer(), try rotation.seal())
            let device = try named.map { try DeviceID($0) }
            if sealed == named {
                #expect(throws: Never.self) { try resealer.reseal(queued, device: device) }
            } else {
                expectSenderError(.undecryptable) { try resealer.reseal(queued, device: device) }
            }
        }
    }

    @Test("a resealer with the keys of one device reseals pushes to that device")
    func keysetOfADevice() throws {
        let rotation = Rotation(device: "phone-1_A")
        let device = try #require(try rotation.deviceID())
        let resealer = try Resealer(
            topic: Channel.topic, keyset: rotation.keyset().device(device), clock: { Self.now })
        let opener = try rotation.opener(Rotation.new, "")
        for named in [nil, device] {
            let push = try resealer.reseal(try rotation.seal(), device: named)
            #expect(throws: Never.self) { try opener.open(push.payload, at: Self.now).get() }
        }
        expectSenderError(.wrongDevice) { try resealer.reseal(try rotation.seal(), device: DeviceID("tablet-2")) }
    }

    @Test("a resealer reads the clock for every push and follows a rotation during its use")
    func timePasses() throws {
        let rotation = Rotation(isSigned: false)
        let clock = SettableClock(Self.now)
        let lifecycle = KeyLifecycle(activatesAt: Self.now + 60, retiresAt: Self.now + 120)
        let keyset = try Keyset([
            rotation.entry(Rotation.old, KeyLifecycle(activatesAt: UnixTime(0), retiresAt: Self.now + 60)),
            rotation.entry(Rotation.new, lifecycle),
        ])
        let resealer = try Resealer(topic: Channel.topic, keyset: keyset, clock: { clock.time })
        let queued = try rotation.seal()
        #expect(try resealer.reseal(queued).isChanged == false)
        clock.time = Self.now + 60
        #expect(try resealer.reseal(queued).isChanged)
        clock.time = Self.now + 120
        expectSenderError(.noKeySeals) { try resealer.reseal(queued) }
    }
}

private func tampered(_ payload: [UInt8]) -> [UInt8] {
    let outer = OuterText(payload)
    var sealed = Array(outer.member("sealed") ?? "")
    sealed[sealed.count / 2] = sealed[sealed.count / 2] == "A" ? "B" : "A"
    return outer.with("sealed", String(sealed)).bytes
}

private final class SettableClock: @unchecked Sendable {
    // Unchecked because of the variable: the lock guards it.
    private var value: UnixTime
    private let lock = NSLock()

    init(_ time: UnixTime) {
        value = time
    }

    var time: UnixTime {
        get { lock.withLock { value } }
        set { lock.withLock { value = newValue } }
    }
}
