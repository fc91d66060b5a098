import Foundation
import PushCryptCore
import PushCryptSender
import Testing

/// The sizes of PROTOCOL section 5, with the lengths of `enc` and of the salt in section 3.
@Suite("the byte budget of each suite") struct SuiteBudgetTests {
    private static let headerByteCounts: [UInt8: Int] = [1: 65, 2: 32, 3: 1_120, 4: 16]

    private let options = Sealer.Options(padding: .none)

    /// A payload whose message has this many bytes.
    private func payload(_ messageByteCount: Int, _ channel: Channel) throws -> String {
        func payload(_ count: Int) -> String { #"{"aps":{"alert":"\#(String(repeating: "a", count: count))"}}"# }
        let shortest = try Reading(channel.seal(payload(1), options), channel).message.count
        return payload(messageByteCount - shortest + 1)
    }

    /// ⌊3 (l − f) / 4⌋ − header − 16 − (64 if signed)
    private func capacity(_ channel: Channel, limit: Int) throws -> Int {
        let push = try channel.seal(#"{"aps":{"alert":"x"}}"#, options)
        let envelope = try #require(try Reading(push, channel).outer["pushcrypt"] as? [String: Any])
        let sealed = try #require(envelope["sealed"] as? String)
        let frame = push.byteCount - sealed.utf8.count
        let header = try #require(Self.headerByteCounts[channel.recipient().suite.rawValue])
        return 3 * (limit - frame) / 4 - header - 16 - (channel.isSigned ? 64 : 0)
    }

    @Test(
        "a message of the capacity in the protocol fits, and one of a byte more is tooLarge", arguments: Channel.all,
        [4_096, 4_095, 4_094, 4_093])
    func boundary(channel: Channel, limit: Int) throws {
        let capacity = try capacity(channel, limit: limit)
        for padding in [PaddingPolicy.none, .multiple(of: 128), .limit] {
            let options = Sealer.Options(padding: padding, limitInBytes: limit)
            let push = try channel.seal(payload(capacity, channel), options)
            #expect((limit - 1...limit).contains(push.byteCount))
            #expect(try Reading(push, channel).message.count == capacity)
            let error = expectSenderError(.tooLarge) { try channel.seal(payload(capacity + 1, channel), options) }
            #expect(error?.bytesAvailable == limit)
            #expect((limit + 1...limit + 2).contains(try #require(error?.bytesNeeded)))
        }
    }

    @Test(
        "a message is padded to the next multiple of 128 bytes, and in the last step to the capacity",
        arguments: Channel.all)
    func steps(channel: Channel) throws {
        let capacity = try capacity(channel, limit: 4_096)
        for step in stride(from: 256, through: capacity, by: 128) {
            for (count, padded) in [(step, step), (step + 1, min(step + 128, capacity)), (step - 127, step)]
            where count <= capacity {
                let push = try channel.seal(payload(count, channel))
                #expect(try Reading(push, channel).message.count == padded, "\(count) bytes")
            }
        }
    }

    @Test(
        "a sealed push of suite 3 has an enc of 1,120 bytes, and is 1,055 bytes longer before base64 than one of suite 1",
        .enabled(if: Channel.all.contains(where: \.isXWing), "suite 3 is unavailable: it needs OpenSSL 3.5"),
        arguments: [false, true])
    func xWing(isSigned: Bool) throws {
        let counts = try ["p256", "xwing"].map { key in
            let channel = Channel(key: key, isSigned: isSigned)
            let reading = try Reading(channel.seal(#"{"aps":{"alert":"x"}}"#), channel)
            let envelope = try #require(reading.outer["pushcrypt"] as? [String: Any])
            let text = try #require(envelope["sealed"] as? String)
            let sealed = try #require(Base64URL.decode(Array(text.utf8)[...]))
            return (sealed: sealed.count, message: reading.message.count)
        }
        #expect(counts[1].sealed - counts[0].sealed == 1_055)
        #expect(counts[1].sealed == 1_120 + counts[1].message + 16 + (isSigned ? 64 : 0))
    }
}
