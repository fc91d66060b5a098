import Benchmark
import BenchmarkSupport
import PushCryptCore
import PushCryptPrimitives

/// The profile of a message (PROTOCOL section 4).
enum MessageProfile: String {
    case base, psk, signed, both

    /// A shared key has no psk.
    static func all(of suite: Suite) -> [MessageProfile] {
        suite == .shared ? [.base, .signed] : [.base, .psk, .signed, .both]
    }

    var hasPSK: Bool { self == .psk || self == .both }
    var isSigned: Bool { self == .signed || self == .both }
}

/// From the bytes of the message to the bytes of the `sealed` member, and back.
func addMessageBenchmarks(_ suite: Suite, _ profile: MessageProfile, byteCount: Int) {
    let name = "suite \(suite.rawValue), \(profile), \(byteCount) bytes"
    let message = [UInt8](repeating: UInt8(ascii: "x"), count: byteCount)
    Benchmark("seal, \(name)") { benchmark, parties in
        for _ in benchmark.scaledIterations {
            blackHole(
                try Envelope.seal(
                    message, to: parties.keys.recipient, signer: parties.sender?.key, topic: parties.topic))
        }
    } setup: {
        try Parties(suite, profile)
    }
    Benchmark("open, \(name)") { benchmark, received in
        let parties = received.parties
        for _ in benchmark.scaledIterations {
            blackHole(
                try Envelope.open(
                    received.sealed, with: parties.keys.recipientKey, signedBy: received.signer,
                    topic: parties.topic))
        }
    } setup: {
        try ReceivedMessage(message, try Parties(suite, profile))
    }
}

struct Parties {
    let keys: TestKeys
    let sender: TestSender?
    let topic: Topic

    init(_ suite: Suite, _ profile: MessageProfile) throws {
        keys = try TestKeys(suite: suite, psk: profile.hasPSK)
        sender = profile.isSigned ? try TestSender() : nil
        topic = try Topic(TestMessage.topic)
    }
}

struct ReceivedMessage {
    let parties: Parties
    let sealed: [UInt8]
    let signer: (skid: KeyID, key: any VerificationKey)?

    init(_ message: [UInt8], _ parties: Parties) throws {
        self.parties = parties
        sealed = try Envelope.seal(
            message, to: parties.keys.recipient, signer: parties.sender?.key, topic: parties.topic)
        signer = try parties.sender.map { sender in
            (sender.key.kid, try sender.trusted.verificationKey(sender.key.kid, at: TestMessage.time).key)
        }
    }
}
