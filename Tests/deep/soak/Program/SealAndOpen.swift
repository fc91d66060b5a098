import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender

/// One thread that seals, changes some payloads as a relay does, and runs the extension library for each.
struct SealAndOpen {
    /// What happens to a payload on its way, and how it ends.
    enum Fate: CaseIterable {
        case intact, replayed, changedSealed, unknownKey, unsealed, otherVersion, withoutSkid, expired

        var failure: FailureClass? {
            switch self {
            case .intact: nil
            case .replayed: .replayed
            case .changedSealed, .withoutSkid: .undecryptable
            case .unknownKey: .unknownKey
            case .unsealed: .notSealed
            case .otherVersion: .unsupportedVersion
            case .expired: .expired
            }
        }
    }

    private let place: SoakPlace
    private let tally: Tally
    private let number: UInt64
    private var store: SharedStore
    private var storeCount = 0
    private var deliveryCount = 0

    /// Well below the store's limit of remembered messages: a phone doesn't get that many in 30 days.
    private static let deliveriesOfOnePhone = 4_000

    init(_ place: SoakPlace, _ tally: Tally, seed: UInt64) {
        self.place = place
        self.tally = tally
        number = seed
        store = SharedStore(folder: place.folder + "/store\(seed)", role: .extension)
    }

    /// A phone with an empty store.
    private mutating func takeNewPhone() {
        let folder = { [place, number] (count: Int) in "\(place.folder)/store\(number).\(count)" }
        try? FileManager.default.removeItem(atPath: folder(storeCount))
        storeCount += 1
        store = SharedStore(folder: folder(storeCount), role: .extension)
    }

    /// Every second message meets a fate. Sessions run with the real store.
    mutating func run(until isDone: Flag) {
        var device = DeviceKeys(place)
        var random = SplitMix64(state: number)
        while !isDone.isSet {
            guard let channel = Channel.all.randomElement(using: &random) else { return }
            deliveryCount += 1
            if deliveryCount.isMultiple(of: Self.deliveriesOfOnePhone) { takeNewPhone() }
            let fate = random.next() % 2 == 0 ? .intact : Fate.allCases.randomElement(using: &random) ?? .intact
            attempt(channel, fate) {
                try deliver(channel, fate == .withoutSkid && !channel.isSigned ? .intact : fate, &device, &random)
            }
        }
    }

    /// Seals and opens with the opener, without a store, and without rotation.
    func run(count: Int, until isDone: Flag) {
        var device = DeviceKeys(place)
        var random = SplitMix64(state: number)
        while tally.operations < count && !isDone.isSet {
            for channel in Channel.all {
                attempt(channel, .intact) {
                    let payload = Self.payload(channel.key, &random)
                    let time = place.now
                    let push = try seal(payload, channel, at: time)
                    let opened = try device.opener(channel, for: push).open(push, at: time).get()
                    guard opened.payload == payload else { return "another content" }
                    return nil
                }
            }
        }
    }

    /// - Parameter body: returns what is wrong; nil for the intended result.
    private func attempt(_ channel: Channel, _ fate: Fate, _ body: () throws -> String?) {
        do {
            if let flaw = try body() { return tally.fail("\(channel), \(fate): \(flaw)") }
            tally.add("sealed", fate.failure == nil ? "opened" : "refused", "\(channel)")
        } catch {
            tally.fail("\(channel), \(fate): \(error)")
        }
    }

    private func seal(_ payload: [UInt8], _ channel: Channel, at time: UnixTime) throws -> [UInt8] {
        let signer = channel.isSigned ? try place.senderKey() : nil
        let sealer = try Sealer(topic: SoakPlace.topic, signer: signer.map(Signer.key), clock: { time })
        return Array(try sealer.seal(payload, to: place.recipient(channel.key), placeholder: .standard).json)
    }

    private func deliver(
        _ channel: Channel, _ fate: Fate, _ device: inout DeviceKeys, _ random: inout SplitMix64
    ) throws -> String? {
        let payload = Self.payload(channel.key, &random)
        let time = place.now
        let push = try seal(payload, channel, at: time)
        let opener = try device.opener(channel, for: push)
        let later = fate == .expired ? time + 31 * 86_400 : time
        if fate == .replayed, let flaw = Self.flaw(show(push, opener, at: time), nil, payload) { return flaw }
        return Self.flaw(show(try Self.changed(push, fate), opener, at: later), fate.failure, payload)
    }

    /// Runs a session and waits for its content.
    ///
    /// - Returns: nil if the session shows nothing within a minute.
    private func show(_ push: [UInt8], _ opener: Opener, at time: UnixTime) -> DeliverySession.Delivery? {
        var configuration = ExtensionConfiguration(opener: opener, fallback: .bundled(.standard))
        configuration.clock = { time }
        configuration.store = store
        let (shown, box) = (DispatchSemaphore(value: 0), Box())
        DeliverySession(payload: push, configuration: configuration) { delivery in
            box.set(delivery)
            shown.signal()
        }.start()
        return shown.wait(timeout: .now() + 60) == .success ? box.value : nil
    }

    private static func flaw(
        _ delivery: DeliverySession.Delivery?, _ failure: FailureClass?, _ payload: [UInt8]
    ) -> String? {
        guard let delivery else { return "nothing was shown" }
        guard delivery.failure == failure else { return "\(delivery.failure.map(\.rawValue) ?? "opened")" }
        if failure == nil { return delivery.content.userInfo == payload ? nil : "another content" }
        return delivery.content.title.literal == "New message" ? nil : "not the app's own text"
    }

    private static func changed(_ push: [UInt8], _ fate: Fate) throws -> [UInt8] {
        let text = String(decoding: push, as: UTF8.self)
        switch fate {
        case .intact, .replayed, .expired: return push
        case .changedSealed:
            // The first characters of sealed: a point, a salt or a public key.
            let other = text.replacing(/"sealed":"../) {
                String($0.output.dropLast()) + ($0.output.last == "A" ? "B" : "A")
            }
            return Array(other.utf8)
        case .unknownKey: return Array(text.replacing(/"kid":"[^"]*"/, with: #""kid":"AAAAAAAAAAA""#).utf8)
        case .unsealed: return Array(#"{"aps":{"alert":"x","mutable-content":1}}"#.utf8)
        case .otherVersion: return Array(text.replacing(#""v":1"#, with: #""v":2"#).utf8)
        case .withoutSkid: return Array(text.replacing(/,"skid":"[^"]*"/, with: "").utf8)
        }
    }

    /// A payload of random length that fits in every profile of the key's suite.
    private static func payload(_ key: Channel.Key, _ random: inout SplitMix64) -> [UInt8] {
        let count = Int(random.next() % (key.isXWing ? 1_200 : 1_600))
        let letters = (0..<count).map { _ in UInt8(ascii: "a") + UInt8(random.next() % 26) }
        return Array(#"{"aps":{"alert":{"title":"t","body":"b"},"badge":3},"n":1.50,"x":""#.utf8) + letters
            + Array("\"}".utf8)
    }

    private final class Box: @unchecked Sendable {
        // Unchecked: written before the semaphore is signalled, read after.
        private(set) var value: DeliverySession.Delivery?
        func set(_ delivery: DeliverySession.Delivery) { value = delivery }
    }
}

/// The keys of the phone. It reads them again if a push names one that it doesn't know, as an app that gets new keys.
struct DeviceKeys {
    private let place: SoakPlace
    private var keysets: [String: Keyset] = [:]
    private var senders: (ids: [KeyID], trusted: TrustedSenders)?

    init(_ place: SoakPlace) { self.place = place }

    mutating func opener(_ channel: Channel, for push: [UInt8]) throws -> Opener {
        let (kid, skid) = (Self.id("\"kid\":\"", in: push), Self.id("\"skid\":\"", in: push))
        let keyset = try keyset(channel.key, kid)
        return try Opener(
            topic: SoakPlace.topic, keyring: KeysetKeyring(keyset),
            senders: channel.isSigned ? .pinned(trusted(skid)) : .unsigned)
    }

    /// The key id behind a text: `skid` ends the payload, and `kid` is before `sealed`, the longest member.
    private static func id(_ name: String, in push: [UInt8]) -> KeyID? {
        let name = Array(name.utf8)
        for start in [push.count - name.count - KeyID.characterCount - 3] + Array(0..<min(push.count, 600))
        where start >= 0 && push[start...].starts(with: name) {
            return KeyID(String(decoding: push[(start + name.count)...].prefix(KeyID.characterCount), as: UTF8.self))
        }
        return nil
    }

    private mutating func keyset(_ key: Channel.Key, _ kid: KeyID?) throws -> Keyset {
        if let keyset = keysets[key.rawValue], kid.map(keyset.keyIDs.contains) ?? true { return keyset }
        var keyset = try Keyset(file: place.path(key.keyset))
        if key == .device { keyset = try keyset.device(DeviceID(SoakPlace.device)) }
        keysets[key.rawValue] = keyset
        return keyset
    }

    private mutating func trusted(_ skid: KeyID?) throws -> TrustedSenders {
        if let senders, skid.map(senders.ids.contains) ?? true { return senders.trusted }
        let keyset = try Keyset(file: place.path("sender")).publicKeyset(keepingPSK: false)
        let trusted = try TrustedSenders(keyset)
        senders = (keyset.keyIDs, trusted)
        return trusted
    }
}

/// A generator of random numbers with a seed.
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
