import PushCryptSender
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The attacker is one of two senders that the app trusts. Both know the device's psk, so they can compute each other's
/// campaign ids.
@Suite("Attacks of one trusted sender on another") struct OtherSenderAttackTests {
    /// How the app pins the keys "sender" and "other sender".
    enum Pins: CaseIterable, Sendable {
        case signedSets, setsInCode, bothKinds
        case oneSignedSet, oneSetInCode
        static let ofTwoSenders = [signedSets, setsInCode, bothKinds]
        static let ofOneSender = [oneSignedSet, oneSetInCode]
    }

    private let folder = TemporaryFolder.make()
    private let place = StoreFolder()
    private var store: SharedStore { place.first }

    private func signed(_ keys: [String], _ id: UInt8, accepting: Bool = true) throws -> SenderPins {
        let id = [UInt8](repeating: id, count: 16)
        // Two sets may be in one folder.
        let pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(set: id), topic: TestPush.topic)
        if accepting {
            try pins.accept(TestSenderSet(keys: keys.map { ($0, .always) }, id: id).document(), at: TestPush.now)
        }
        return pins
    }

    /// A JWK set that is a part of the app.
    private func inCode(_ keys: [String], _ name: String = "") throws -> TrustedSenders {
        try TrustedSenders(json: TestSenderSet(keys: keys.map { ($0, .always) }).unsigned(), name: name)
    }

    private func trust(_ pins: Pins) throws -> SenderTrust {
        switch pins {
        case .signedSets: .pinned(try signed(["sender"], 1), try signed(["other sender"], 2))
        case .setsInCode: .pinned(try inCode(["sender"]), try inCode(["other sender"], "other"))
        case .bothKinds: .pinned(try signed(["sender"], 1), try inCode(["other sender"]))
        case .oneSignedSet: .pinned(try signed(["sender", "other sender"], 1))
        case .oneSetInCode: .pinned(try inCode(["sender", "other sender"]))
        }
    }

    private func opened(
        _ trust: SenderTrust, by signer: String?, _ options: Sealer.Options = .init()
    ) throws -> OpenedPush {
        try TestPush(key: "p256 psk", signer: signer, options: options).opened(trusting: trust).get()
    }

    private func claim(_ push: OpenedPush, _ requestID: String, in other: SharedStore? = nil) throws -> ClaimAnswer {
        try (other ?? store).claimInFile(MessageStamp(push, requestID: requestID), at: TestPush.now.seconds)
    }

    @Test("a sender retracts another's message: nothing is removed or held back", arguments: Pins.ofTwoSenders)
    func retraction(_ pins: Pins) throws {
        let trust = try trust(pins)
        let shown = try opened(trust, by: "sender")
        let late = try opened(trust, by: "sender", .init(campaign: "alert-42"))
        let ids = [shown.messageID, late.messageID]
        #expect(try claim(shown, "A").refusal == nil)
        let answer = try claim(try opened(trust, by: "other sender", .init(retractedIDs: ids)), "B")
        #expect(answer.refusal == nil && answer.dueRequestIDs.isEmpty)
        #expect(try !store.isRetracted(MessageStamp(shown, requestID: "A")))
        #expect(try claim(late, "C").refusal == nil)
        // The sender itself takes both back.
        let own = try claim(try opened(trust, by: "sender", .init(retractedIDs: ids)), "D")
        #expect(own.refusal == nil && own.dueRequestIDs == ["A", "C"])
    }

    @Test("a sender uses another's campaign id first: the other's push is claimed", arguments: Pins.ofTwoSenders)
    func campaign(_ pins: Pins) throws {
        let trust = try trust(pins)
        let first = try opened(trust, by: "other sender", .init(campaign: "alert-43"))
        let second = try opened(trust, by: "sender", .init(campaign: "alert-43"))
        #expect(first.messageID == second.messageID && first.name != second.name)
        for (store, time) in [(store, 0), (place.store(.app), 1)] {
            #expect(try claim(first, "A\(time)", in: store).refusal == nil)
            #expect(try claim(second, "B\(time)", in: store).refusal == nil)
            #expect(try claim(second, "B\(time)", in: store).refusal == .replayed)
        }
    }

    @Test("while the file can't be used, a sender neither retracts another's message nor uses up its id")
    func withoutFile() throws {
        let trust = try trust(.signedSets)
        let message = try opened(trust, by: "sender", .init(campaign: "x"))
        let other = try opened(
            trust, by: "other sender", .init(campaign: "x", retractedIDs: [try opened(trust, by: "sender").messageID]))
        let memory = InMemoryReplayStore(role: .extension, limit: 10)
        #expect(try memory.claim(MessageStamp(other, requestID: "B"), at: TestPush.now.seconds).refusal == nil)
        #expect(try memory.claim(MessageStamp(message, requestID: "A"), at: TestPush.now.seconds).refusal == nil)
        #expect(store.reserve(MessageStamp(other, requestID: "B"), at: TestPush.now))
        #expect(store.reserve(MessageStamp(message, requestID: "A"), at: TestPush.now))
        #expect(!store.reserve(MessageStamp(message, requestID: "A"), at: TestPush.now))
    }

    @Test("another key of the same set retracts a message and uses up its id", arguments: Pins.ofOneSender)
    func rotation(_ pins: Pins) throws {
        let trust = try trust(pins)
        let message = try opened(trust, by: "sender", .init(campaign: "x"))
        #expect(try claim(message, "A").refusal == nil)
        #expect(try claim(try opened(trust, by: "other sender", .init(campaign: "x")), "B").refusal == .replayed)
        let retraction = try opened(trust, by: "other sender", .init(retractedIDs: [message.messageID]))
        #expect(try claim(retraction, "C").dueRequestIDs.contains("A"))
    }

    @Test("a key that two pinned sets have verifies nothing: unknownKey")
    func keyOfTwoSets() throws {
        let both = SenderTrust.pinned(try signed(["sender"], 1), try signed(["sender", "other sender"], 2))
        #expect(throws: FailureClass.unknownKey) { try opened(both, by: "sender") }
        #expect(try opened(both, by: "other sender").signedBy == TestKeys.id("other sender"))
        let joined = TrustedSenders([try TestKeys.trusted(["sender"]), try TestKeys.trusted(["sender"])])
        #expect(throws: FailureClass.unknownKey) { try opened(.pinned(joined), by: "sender") }
    }

    @Test("a sender without an accepted set doesn't stop the pushes of another; without any set all are unknownKey")
    func missingSet() throws {
        let missing = try signed([], 3, accepting: false)
        let trust = SenderTrust.pinned(missing, try signed(["sender"], 1))
        #expect(try opened(trust, by: "sender").signedBy == TestKeys.id("sender"))
        #expect(throws: FailureClass.unknownKey) { try opened(trust, by: "other sender") }
        #expect(throws: FailureClass.undecryptable) { try opened(trust, by: nil) }
        for none in [SenderTrust.pinned(missing, missing), .pinned([])] {
            #expect(throws: FailureClass.unknownKey) { try opened(none, by: "sender") }
            #expect(throws: FailureClass.unknownKey) { try opened(none, by: nil) }
        }
    }

    @Test("a set that can't be read makes each push fail", arguments: [FailureClass.keyLocked, .internalError])
    func unreadableSet(_ failure: FailureClass) throws {
        struct Unreadable: PinnedSender {
            let failure: FailureClass
            func trustedSenders() throws(FailureClass) -> TrustedSenders { throw failure }
        }
        let trust = SenderTrust.pinned(try signed(["sender"], 1), Unreadable(failure: failure))
        #expect(throws: failure) { try opened(trust, by: "sender") }
    }

    @Test("each of two sets in one folder keeps its own state: an update and a revocation of one leave the other")
    func oneFolder() throws {
        let (first, second) = (try signed(["sender"], 1), try signed(["other sender"], 2))
        let id = [UInt8](repeating: 2, count: 16)
        let revoking = TestSenderSet(keys: [("other sender", .revoked(at: TestPush.now))], sequence: 5, id: id)
        #expect(try second.accept(revoking.document(), at: TestPush.now))
        #expect(try first.version()?.sequence == 1 && second.version()?.sequence == 5)
        let trust = SenderTrust.pinned(first, second)
        #expect(try opened(trust, by: "sender").signedBy == TestKeys.id("sender"))
        #expect(throws: FailureClass.keyRevoked) { try opened(trust, by: "other sender") }
    }

    @Test("the name of a sender has at most 65,535 bytes: a longer one is malformed")
    func longName() throws {
        let json = ReferenceVectors.shared.publicJWK("sender")
        #expect(throws: Never.self) { try TrustedSenders(json: json, name: String(repeating: "x", count: 65_535)) }
        expectKeyError(.malformed) { try TrustedSenders(json: json, name: String(repeating: "x", count: 65_536)) }
    }
}
