import Foundation
import PushCryptSender
import Testing

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
