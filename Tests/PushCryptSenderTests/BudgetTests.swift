import Foundation
import PushCryptCore
import PushCryptSender
import Testing

/// The sizes of PROTOCOL section 5, with the lengths of `enc` and of the salt in section 3. `PayloadBudgetTests` and
/// `PaddingPolicyTests` of the core have every length and every multiple.
@Suite("the byte budget of each suite") struct BudgetTests {
    private static let headerByteCounts: [UInt8: Int] = [1: 65, 2: 32, 3: 1_120, 4: 16]

    private let options = Sealer.Options(padding: .none)

    private static func payload(_ count: Int) -> String {
        #"{"aps":{"alert":"\#(String(repeating: "a", count: count))"}}"#
    }

    /// A payload whose message has this many bytes.
    private func payload(messageByteCount: Int, _ channel: Channel) throws -> String {
        let shortest = try Reading(channel.seal(Self.payload(1), options), channel).message.count
        return Self.payload(messageByteCount - shortest + 1)
    }

    private func overhead(_ channel: Channel) throws -> Int {
        let header = try #require(Self.headerByteCounts[channel.recipient().suite.rawValue])
        return header + 16 + (channel.isSigned ? 64 : 0)
    }

    /// ⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed)
    private func capacity(_ channel: Channel, limit: Int) throws -> Int {
        let push = try channel.seal(Self.payload(1), options)
        let frame = try push.byteCount - Reading(push, channel).sealedText.utf8.count
        return try 3 * (limit - frame) / 4 - overhead(channel)
    }

    @Test(
        "a message of the capacity in the protocol fits, and one of a byte more is tooLarge", arguments: Channel.all,
        [4_096, 4_095, 4_094, 4_093])
    func boundary(channel: Channel, limit: Int) throws {
        let capacity = try capacity(channel, limit: limit)
        for padding in [PaddingPolicy.none, .multiple(of: 128), .limit] {
            let options = Sealer.Options(padding: padding, limitInBytes: limit)
            let payload = try payload(messageByteCount: capacity, channel)
            let push = try channel.seal(payload, options)
            #expect((limit - 1...limit).contains(push.byteCount))
            #expect(try Reading(push, channel).message.count == capacity)
            #expect(try Reading(push, channel).payload == payload)
            let longer = try self.payload(messageByteCount: capacity + 1, channel)
            let error = expectSenderError(.tooLarge) { try channel.seal(longer, options) }
            #expect(error?.bytesAvailable == limit)
            #expect((limit + 1...limit + 2).contains(try #require(error?.bytesNeeded)))
        }
    }

    @Test(
        "a message is padded with spaces to the next multiple of 128 bytes, and in the last step to the capacity",
        arguments: Channel.all)
    func steps(channel: Channel) throws {
        let capacity = try capacity(channel, limit: 4_096)
        for step in stride(from: 256, through: capacity, by: 128) {
            for (count, padded) in [(step, step), (step + 1, min(step + 128, capacity)), (step - 127, step)]
            where count <= capacity {
                let push = try channel.seal(payload(messageByteCount: count, channel))
                let reading = try Reading(push, channel)
                #expect(reading.message.count == padded, "\(count) bytes")
                #expect(reading.message[count...].allSatisfy { $0 == 0x20 })
                #expect(push.byteCount == push.json.count)
                // n bytes have ⌈4n / 3⌉ characters.
                #expect(try reading.sealedText.utf8.count == ((padded + overhead(channel)) * 4 + 2) / 3)
            }
        }
    }

    @Test(
        "the error of a large payload names the bytes needed and available", arguments: Channel.all,
        [200, 201, 202, 203, 1_000])
    func bytesNeeded(channel: Channel, count: Int) throws {
        let bare = try channel.seal(Self.payload(count), options).byteCount
        for padding in [PaddingPolicy.none, .multiple(of: 128), .limit] {
            let exact = Sealer.Options(padding: padding, limitInBytes: bare)
            #expect(try channel.seal(Self.payload(count), exact).byteCount == bare)
            let less = Sealer.Options(padding: padding, limitInBytes: bare - 1)
            let error = expectSenderError(.tooLarge) { try channel.seal(Self.payload(count), less) }
            #expect(error?.bytesNeeded == bare)
            #expect(error?.bytesAvailable == bare - 1)
        }
    }

    @Test(
        "a sealed push of suite 3 has an enc of 1,120 bytes, and is 1,055 bytes longer before base64 than one of suite 1",
        .enabled(if: Channel.all.contains(where: \.isXWing), "suite 3 is unavailable: it needs OpenSSL 3.5"),
        arguments: [false, true])
    func xWing(isSigned: Bool) throws {
        let counts = try ["p256", "xwing"].map { key in
            let channel = Channel(key: key, isSigned: isSigned)
            let reading = try Reading(channel.seal(Self.payload(1)), channel)
            let sealed = try #require(Base64URL.decode(Array(reading.sealedText.utf8)[...]))
            return (sealed: sealed.count, message: reading.message.count)
        }
        #expect(counts[1].sealed - counts[0].sealed == 1_055)
        #expect(counts[1].sealed == 1_120 + counts[1].message + 16 + (isSigned ? 64 : 0))
    }

    @Test("a limit of 0 or above 4,096 bytes is refused", arguments: [0, -1, .min, 4_097, 5_120, .max])
    func outOfRange(limit: Int) {
        expectSenderError(.invalidOption) {
            try Channel.simple.seal(Self.payload(1), Sealer.Options(limitInBytes: limit))
        }
    }

    @Test("a limit below the outer payload's own length is refused", arguments: [1, 50, 160])
    func lessThanTheFrame(limit: Int) throws {
        let error = expectSenderError(.tooLarge) {
            try Channel.simple.seal(Self.payload(1), Sealer.Options(limitInBytes: limit))
        }
        #expect(try error?.bytesNeeded == Channel.simple.seal(Self.payload(1), options).byteCount)
    }

    @Test("a payload far above the limit is refused with its size", arguments: [5_000, 100_000, 262_000])
    func farTooLarge(count: Int) throws {
        for json in [Self.payload(count), #"{"aps":{"alert":"x"},"y":"\#(String(repeating: "a", count: count))"}"#] {
            let error = expectSenderError(.tooLarge) { try Channel.simple.seal(json) }
            #expect(try #require(error?.bytesNeeded) > count)
        }
    }

    @Test("a payload that is too large for any message is refused with the limit", arguments: [262_144, 5_242_880])
    func largerThanAnyMessage(count: Int) throws {
        let error = expectSenderError(.invalidPayload) { try Channel.simple.seal(Self.payload(count)) }
        #expect(error?.reason.contains("262144 bytes") == true)
    }

    /// Bytes are counted, not characters.
    @Test("limits count the bytes of Unicode text", arguments: [("😀", 4), ("€", 3), ("é", 2), ("a", 1)])
    func bytesAreCounted(character: String, width: Int) throws {
        let sizes = try [30, 60].map { count in
            let body = String(repeating: character, count: count)
            return try Channel.simple.seal(#"{"aps":{"alert":"\#(body)"}}"#, options).byteCount
        }
        #expect(sizes[1] - sizes[0] == 30 * width * 4 / 3)
    }
}
