import Foundation
import PushCryptPrimitives
import PushCryptSender
import Testing

/// The parts of a sealed push that a backend puts into its request to APNs.
@Suite struct SealedPushTests {
    @Test("the headers have the type, the topic, the expiry and the priority of the message")
    func headers() throws {
        let (sealer, recipient) = (try Channel.simple.sealer(), try Channel.simple.recipient())
        let push = try sealer.seal(PushNotification(title: "T"), to: recipient) { $0.expiresAfter = .seconds(60) }
        let headers = Dictionary(uniqueKeysWithValues: push.headers)
        #expect(
            headers == [
                "apns-push-type": "alert", "apns-topic": "com.example.app", "apns-expiration": "1800000060",
                "apns-priority": "10",
            ])
        let quiet = try sealer.seal(PushNotification(title: "T"), to: recipient) { $0.isQuiet = true }
        #expect(Dictionary(uniqueKeysWithValues: quiet.headers)["apns-priority"] == "5")
    }

    @Test("bytes and json give the same body") func bytes() throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#)
        #expect(push.json == Data(push.bytes) && push.byteCount == push.bytes.count)
    }

    /// A type that counts how often it is encoded.
    private final class Counting: Encodable, Sendable {
        let count = Locked(0)

        func encode(to encoder: any Encoder) throws {
            count.withLock { $0 += 1 }
            try PushNotification(title: "T").encode(to: encoder)
        }
    }

    @Test("a notification to the three devices of a user is encoded once, and a refusal stands in its place")
    func oneNotificationForSeveralDevices() throws {
        let payload = Counting()
        let channels = [Channel(key: "p256 psk", isSigned: false), .init(key: "p256", isSigned: false), .simple]
        let sealer = try Channel.simple.sealer()
        let results = try sealer.seal(payload, toEach: channels.map { try $0.recipient() }) { $0.isQuiet = true }
        #expect(payload.count.withLock { $0 } == 1)
        #expect(try Reading(results[0].get(), channels[0]).payload == #"{"aps":{"alert":{"title":"T"}}}"#)
        expectSenderError(.notAuthenticated) { try results[1].get() }
        #expect(try Reading(results[2].get(), channels[2]).payload == #"{"aps":{"alert":{"title":"T"}}}"#)
    }

    @Test("a self-test to several devices, and one in a batch, is a self-test for each device") func selfTest()
        async throws
    {
        let sealer = try Channel.simple.sealer()
        let payload = PushNotification(title: "T")
        let recipient = try Channel.simple.recipient()
        func isSelfTest(_ push: SealedPush) throws -> Bool? {
            try Reading(push, .simple).inner.header(proof: [])?.extras.isSelfTest
        }
        for push in try sealer.seal(payload, toEach: [recipient, recipient], isSelfTest: true) {
            #expect(try isSelfTest(push.get()) == true)
        }
        let requests = [true, false].map { SealRequest(payload, to: recipient, isSelfTest: $0, context: $0) }
        for try await outcome in BatchSealer(sealer).seal(requests) {
            #expect(try isSelfTest(outcome.result.get()) == outcome.context)
        }
    }

    @Test("an array of requests with a payload that was encoded once makes a batch") func batch() async throws {
        let sealer = try Channel.simple.sealer()
        let payload = try sealer.encode(PushNotification(title: "T"))
        let recipient = try Channel.simple.recipient()
        let requests = (0..<100).map { SealRequest(payload, to: recipient, context: $0) }
        var contexts: [Int] = []
        for try await outcome in BatchSealer(sealer).seal(requests) {
            #expect(try Reading(outcome.result.get(), .simple).payload == #"{"aps":{"alert":{"title":"T"}}}"#)
            contexts.append(outcome.context)
        }
        #expect(contexts == Array(0..<100))
    }
}

@Suite struct DistinctSealsTests {
    @Test("two seals of one payload share no id, enc or ciphertext", arguments: Channel.allOnBoth)
    func twoSealsDiffer(channel: Channel) throws {
        let pushes = try (0..<2).map { _ in try channel.seal(#"{"aps":{"alert":"x"}}"#) }
        #expect(pushes[0].id != pushes[1].id)
        #expect(pushes[0].byteCount == pushes[1].byteCount)
        let readings = try pushes.map { try Reading($0, channel) }
        #expect(readings[0].inner.header(proof: .signature)?.id != readings[1].inner.header(proof: .signature)?.id)
        let sealed = readings.map(\.sealedText)
        let same = zip(sealed[0].utf8, sealed[1].utf8).filter { $0 == $1 }.count
        #expect(same < sealed[0].utf8.count / 4)
        #expect(sealed[0].prefix(20) != sealed[1].prefix(20))
    }

    @Test("seals on many threads have different ids", arguments: [Channel.all[0], Channel.all[5], Channel.all[8]])
    func manyThreads(channel: Channel) async throws {
        let (sealer, recipient) = (try channel.sealer(), try channel.recipient())
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let json = Data(#"{"aps":{"alert":"\#(index)"}}"#.utf8)
                    let push = try sealer.seal(json, to: recipient, placeholder: Channel.placeholder)
                    #expect(try Reading(push, channel).payload == #"{"aps":{"alert":"\#(index)"}}"#)
                    return push.id
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 64)
    }
}
