import Foundation
import PushCryptSender
import Testing

@Suite struct SizeTests {
    private static func payload(_ count: Int) -> String {
        #"{"aps":{"alert":{"body":"\#(String(repeating: "a", count: count))"}}}"#
    }

    private static func overhead(_ channel: Channel) -> Int {
        let headers = ["p256": 65, "x25519": 32, "xwing": 1_120]
        let header = headers.first { channel.key.hasPrefix($0.key) }?.value ?? 16
        return header + 16 + (channel.isSigned ? 64 : 0)
    }

    /// The n bytes of `sealed` have ceil(4n/3) characters.
    @Test(
        "byteCount is the payload's length, and sealed has the length that its suite determines",
        arguments: Channel.all,
        [PaddingPolicy.none, .multiple(of: 128), .multiple(of: 100), .limit])
    func byteCount(channel: Channel, padding: PaddingPolicy) throws {
        for count in [1, 2, 3, 100, 101, 102, 1_500] {
            let push = try channel.seal(Self.payload(count), Sealer.Options(padding: padding))
            let reading = try Reading(push, channel)
            let envelope = reading.outer["pushcrypt"] as? [String: Any]
            let sealed = try #require(envelope?["sealed"] as? String)
            #expect(push.byteCount == push.json.count)
            let predicted = ((reading.message.count + Self.overhead(channel)) * 4 + 2) / 3
            #expect(sealed.utf8.count == predicted)
        }
    }

    @Test(
        "padding rounds the message up to its multiple or to the limit", arguments: Channel.all,
        [128, 1, 7, 1_000, 4_096])
    func multiples(channel: Channel, multiple: Int) throws {
        let options = Sealer.Options(padding: .multiple(of: multiple))
        let room = try Reading(channel.seal(Self.payload(1), Sealer.Options(padding: .limit)), channel)
        for count in [1, 61, 62, 900, min(2_000, channel.bodyByteCount)] {
            let bare = try Reading(channel.seal(Self.payload(count), Sealer.Options(padding: .none)), channel)
            let padded = try Reading(channel.seal(Self.payload(count), options), channel)
            let next = (bare.message.count + multiple - 1) / multiple * multiple
            #expect(padded.message.count == min(next, room.message.count))
            #expect(padded.message[padded.inner.text.bytes.count...].allSatisfy { $0 == 0x20 })
        }
    }

    @Test("padding to the limit gives every payload one length", arguments: Channel.all)
    func limitPadding(channel: Channel) throws {
        let options = Sealer.Options(padding: .limit)
        let sizes = try [1, 2, 3, 4, 5, 6, 128, 500, 1_499, channel.bodyByteCount].map { count in
            try channel.seal(Self.payload(count), options).byteCount
        }
        #expect(Set(sizes).count == 1)
        #expect((4_095...4_096).contains(sizes[0]))
    }

    @Test("without padding, each byte of the body adds one or two bytes to the payload") func noPadding() throws {
        let options = Sealer.Options(padding: .none)
        let sizes = try (0..<60).map { try Channel.simple.seal(Self.payload($0 + 1), options).byteCount }
        for (size, next) in zip(sizes, sizes.dropFirst()) {
            #expect((1...2).contains(next - size))
        }
        #expect(sizes[59] - sizes[0] == (59 * 4 + 2) / 3 || sizes[59] - sizes[0] == 59 * 4 / 3)
    }

    @Test("default padding gives similar payloads one length") func defaultPaddingHidesSmallDifferences() throws {
        let sizes = try (30...130).map { try Channel.simple.seal(Self.payload($0)).byteCount }
        #expect(Set(sizes).count == 1)
    }
}
