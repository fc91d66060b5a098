import PushCryptCore
import PushCryptTestSupport
import Testing

/// Both implementations have the same outcome for a payload of the reference with one changed byte.
@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct MutationTests {
    private static let countPerPayload = LongTests.value(170, short: 36)

    @Test("both implementations treat a changed byte alike", arguments: ReferenceVectors.shared.opened)
    func oneByte(vector: ReferenceVectors.Opened) throws {
        let channel = Channel(vector.key, isSigned: vector.trust != nil)
        var random = SplitMix64(seed: UInt64(vector.payload.utf8.count) << 8 | UInt64(vector.name.utf8.count))
        let original = Array(vector.payload.utf8)
        for number in 0..<Self.countPerPayload {
            let (payload, change) = try Self.mutated(original, number, &random)
            let reference = try Outcome.python(payload, channel)
            for backend in Backends.all {
                #expect(try Outcome.swift(payload, channel, backend.backend) == reference, "\(change), \(backend)")
            }
        }
    }

    /// Flips bits and replaces, removes or inserts bytes. Half of the changes are outside the ciphertext.
    private static func mutated(
        _ original: [UInt8], _ number: Int, _ random: inout SplitMix64
    ) throws -> ([UInt8], String) {
        let sealed = try JSONText(original).root["pushcrypt"]?["sealed"]?.range ?? 0..<0
        let outside = Array(0..<(sealed.lowerBound + 1)) + Array((sealed.upperBound - 1)..<original.count)
        let places = number / 6 % 2 == 0 ? outside : Array(sealed)
        let place = places.randomElement(using: &random) ?? 0
        var payload = original
        switch number % 6 {
        case 0, 1: payload[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: payload[place] = Array(#""{}[],:\ 019eé-_="#.utf8).randomElement(using: &random) ?? 0
        case 3: payload[place] = UInt8.random(in: 0...255, using: &random)
        case 4: payload.remove(at: place)
        default: payload.insert(UInt8.random(in: 0...127, using: &random), at: place)
        }
        return (payload, "number \(number), byte \(place)")
    }
}
