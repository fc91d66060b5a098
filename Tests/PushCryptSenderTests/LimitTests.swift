import Foundation
import PushCryptSender
import Testing

@Suite struct LimitTests {
    private static func payload(_ count: Int) -> String {
        #"{"aps":{"alert":{"body":"\#(String(repeating: "a", count: count))"}}}"#
    }

    /// The longest body that fits, by binary search.
    private func longest(_ channel: Channel, _ options: Sealer.Options) throws -> Int {
        var (fits, doesNot) = (1, 4_096)
        while doesNot - fits > 1 {
            let middle = (fits + doesNot) / 2
            if (try? channel.seal(Self.payload(middle), options)) != nil {
                fits = middle
            } else {
                doesNot = middle
            }
        }
        return fits
    }

    /// The longest payload doesn't depend on the padding, which is shortened.
    @Test("the largest payload fits and one byte more is refused", arguments: Channel.all)
    func toTheByte(channel: Channel) throws {
        var found: Set<Int> = []
        for padding in [PaddingPolicy.none, .multiple(of: 128), .multiple(of: 1_000), .limit] {
            let options = Sealer.Options(padding: padding)
            let longest = try longest(channel, options)
            found.insert(longest)
            let push = try channel.seal(Self.payload(longest), options)
            #expect((4_095...4_096).contains(push.byteCount))
            #expect(try Reading(push, channel).payload == Self.payload(longest))
            for more in 1...6 {
                let error = expectSenderError(.tooLarge) { try channel.seal(Self.payload(longest + more), options) }
                #expect(error?.bytesAvailable == 4_096)
                let needed = try #require(error?.bytesNeeded)
                #expect(needed > 4_096)
                #expect(abs(needed - push.byteCount - more * 4 / 3) <= 1)
            }
        }
        #expect(found.count == 1)
    }

    /// bytesNeeded is the size of the same payload under a sufficient limit.
    @Test(
        "the error of a large payload names the bytes needed and available", arguments: Channel.all,
        [200, 201, 202, 203, 1_000])
    func bytesNeeded(channel: Channel, count: Int) throws {
        let bare = try channel.seal(Self.payload(count), Sealer.Options(padding: .none)).byteCount
        for padding in [PaddingPolicy.none, .multiple(of: 128), .limit] {
            let exact = Sealer.Options(padding: padding, limitInBytes: bare)
            #expect(try channel.seal(Self.payload(count), exact).byteCount == bare)
            let less = Sealer.Options(padding: padding, limitInBytes: bare - 1)
            let error = expectSenderError(.tooLarge) { try channel.seal(Self.payload(count), less) }
            #expect(error?.bytesNeeded == bare)
            #expect(error?.bytesAvailable == bare - 1)
        }
    }

    /// Base64 has no text of every length, so the payload may be one byte shorter than the limit.
    @Test(
        "a payload that is padded to a limit from 700 to 720 bytes has that length or one byte less",
        arguments: [Channel.all[0], Channel.all[3], Channel.all[8], Channel.all[11]])
    func everyLimit(channel: Channel) throws {
        for limit in 700...720 {
            let options = Sealer.Options(padding: .limit, limitInBytes: limit)
            let push = try channel.seal(Self.payload(20), options)
            #expect(push.byteCount == limit || push.byteCount == limit - 1)
        }
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
        let bare = try Channel.simple.seal(Self.payload(1), Sealer.Options(padding: .none)).byteCount
        #expect(error?.bytesNeeded == bare)
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
}
