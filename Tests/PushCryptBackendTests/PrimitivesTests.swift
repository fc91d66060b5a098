import Dispatch
import PushCryptTestSupport
import Testing

@testable import PushCryptPrimitives

@Suite struct ArrayBytesTests {
    @Test func `an array becomes a span and the same array again`() {
        var generator = SplitMix64(seed: 90)
        for count in [0, 1, 31, 1000] {
            let original = generator.bytes(count)
            #expect(original.bytes.count == count)
            #expect(Array(original.bytes) == original)
            var appended: [UInt8] = [1, 2]
            appended.append(contentsOf: original.bytes)
            #expect(appended == [1, 2] + original)
        }
    }

    @Test func `the span of a slice begins where the slice begins`() {
        let original = [UInt8](0..<10)
        #expect(Array(Array(original[3..<7]).bytes) == [3, 4, 5, 6])
        #expect(Array(original.bytes.extracting(3..<7)) == [3, 4, 5, 6])
    }
}

@Suite struct SecretBytesTests {
    private let secret = SecretBytes(copying: [0xab, 0xcd, 0xef, 0x12].bytes)
    private let redacted = "SecretBytes(4 bytes, redacted)"

    @Test func `the description and debug description show the length and no bytes`() {
        let texts = [secret.description, secret.debugDescription, "\(secret)", String(describing: secret)]
        #expect(texts + [String(reflecting: secret)] == Array(repeating: redacted, count: 5))
        #expect(String(describing: Optional(secret)) == "Optional(\(redacted))")
        #expect("\([secret])" == "[\(redacted)]")
        #expect("\(["key": secret])" == "[\"key\": \(redacted)]")
    }

    @Test func `a dump and a mirror of a secret show no bytes`() {
        var text = ""
        dump(secret, to: &text)
        #expect(text == "- \(redacted) #0\n")
        #expect(Mirror(reflecting: secret).children.isEmpty)
        #expect(Mirror(reflecting: secret).superclassMirror == nil)
    }

    // Not in the function: the name of a local type has an address, whose digits may be those of a byte.
    struct Holder {
        let name = "holder"
        let key: SecretBytes
    }

    @Test func `a dump of a value that contains a secret shows no bytes`() {
        var text = ""
        dump(Holder(key: secret), to: &text)
        #expect(text.contains("key: \(redacted)"))
        #expect(!text.contains("171") && !text.contains("205") && !text.contains("239"))
        #expect("\(Holder(key: secret))" == "Holder(name: \"holder\", key: \(redacted))")
    }

    @Test func `secrets are equal only if all bytes are equal`() {
        let bytes: [UInt8] = Array(0..<40)
        let original = SecretBytes(copying: bytes.bytes)
        #expect(original == SecretBytes(copying: bytes.bytes))
        for bit in 0..<bytes.bitCount { #expect(original != SecretBytes(copying: bytes.flipping(bit: bit).bytes)) }
        #expect(original != SecretBytes(copying: Array(bytes.dropLast()).bytes))
        #expect(original != SecretBytes(copying: (bytes + [0]).bytes))
        #expect(SecretBytes(copying: .init()) == SecretBytes(count: 0) { _ in })
        #expect(SecretBytes(copying: .init()) != SecretBytes(count: 1) { _ in })
    }

    @Test func `constantTimeEqual finds a difference in any byte`() {
        func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
        let bytes: [UInt8] = Array(0..<33)
        #expect(areEqual(bytes, bytes))
        #expect(areEqual([], []))
        for bit in 0..<bytes.bitCount { #expect(!areEqual(bytes, bytes.flipping(bit: bit))) }
        for count in 0..<33 {
            #expect(!areEqual(bytes, Array(bytes.prefix(count))))
            #expect(!areEqual(Array(bytes.prefix(count)), bytes))
        }
    }

    @Test func `a secret is a copy that a change of its source doesn't change`() {
        var source: [UInt8] = [1, 2, 3]
        let copy = SecretBytes(copying: source.bytes)
        let copyOfTheCopy = SecretBytes(copying: copy.bytes)
        source[0] = 9
        #expect(copy.revealed == [1, 2, 3])
        #expect(copyOfTheCopy == copy)
    }

    @Test func `fill writes the bytes, and its error is thrown`() {
        #expect(SecretBytes(count: 3) { _ in }.revealed == [0, 0, 0])
        #expect(SecretBytes(count: 3) { bytes in bytes[1] = 7 }.revealed == [0, 7, 0])
        #expect(SecretBytes(count: 0) { _ in }.revealed == [])
        #expect(throws: CryptoError(.backendFailure, "no entropy")) {
            try SecretBytes(count: 3) { bytes in
                bytes[0] = 1
                throw CryptoError(.backendFailure, "no entropy")
            }
        }
    }

    @Test func `wipe empties the array`() {
        var bytes: [UInt8] = [1, 2, 3]
        wipe(&bytes)
        #expect(bytes.isEmpty)
        wipe(&bytes)
        #expect(bytes.isEmpty)
    }
}

@Suite("State that ends once") struct EndingOnceTests {
    @Test func `Of a thousand concurrent callers of end, exactly one gets the state`() async {
        let state = EndingOnce("the only value")
        let received = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<1_000 { group.addTask { state.end() } }
            return await group.reduce(into: [String]()) { values, value in values += [value].compactMap(\.self) }
        }
        #expect(received == ["the only value"])
    }

    @Test func `An update before the end changes the state, and one after the end reports false and isn't called`() {
        let state = EndingOnce(1)
        #expect(state.update { $0 += 1 })
        #expect(state.current == 2)
        #expect(state.end() == 2)
        #expect(!state.update { _ in Issue.record("the update was called after the end") })
        #expect(state.current == nil)
        #expect(state.end() == nil)
    }
}

@Suite struct DurationCountTests {
    private static let extremes: [Duration] = [
        .seconds(10_000_000_000), .seconds(Int64.max), .seconds(Int64.min), .seconds(-10_000_000_000),
    ]

    @Test(
        "a duration is counted in units and rounded to the nearest integer",
        arguments: [
            (.zero, 0), (.nanoseconds(1), 0), (.microseconds(499), 0), (.microseconds(501), 1), (.seconds(25), 25_000),
            (.seconds(-3), -3_000), (.seconds(100_000_000), 100_000_000_000),
        ] as [(Duration, Int64)])
    func count(duration: Duration, milliseconds: Int64) {
        #expect(duration.count(of: .milliseconds(1), as: Int64.self) == milliseconds)
    }

    @Test("a duration outside the number's range is clamped to it", arguments: extremes)
    func extreme(duration: Duration) {
        #expect(duration.count(of: .nanoseconds(1), as: Int64.self) == (duration > .zero ? .max : .min))
        #expect(duration.count(of: .milliseconds(1), as: Int32.self) == (duration > .zero ? .max : .min))
        #expect(duration.count(of: .nanoseconds(1), as: Int8.self) == (duration > .zero ? .max : .min))
    }

    @Test func `a dispatch interval is in nanoseconds and clamped to the range of Int`() {
        #expect(Duration.milliseconds(1_500).dispatchInterval == .nanoseconds(1_500_000_000))
        #expect(Duration.seconds(10_000_000_000).dispatchInterval == .nanoseconds(.max))
        #expect(Duration.seconds(-10_000_000_000).dispatchInterval == .nanoseconds(.min))
        #expect(DispatchTime.now() + Duration.seconds(Int64.max).dispatchInterval == .distantFuture)
    }

    @Test func `with a 32-bit Int, 25 seconds are in milliseconds and a year is clamped to 24 days`() {
        #expect(Duration.milliseconds(1_500).dispatchInterval(Int32.self) == .nanoseconds(1_500_000_000))
        #expect(Duration.seconds(25).dispatchInterval(Int32.self) == .milliseconds(25_000))
        #expect(Duration.seconds(365 * 86_400).dispatchInterval(Int32.self) == .milliseconds(Int(Int32.max)))
        #expect(Duration.seconds(Int64.min).dispatchInterval(Int32.self) == .milliseconds(Int(Int32.min)))
    }
}
