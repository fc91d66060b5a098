import Foundation
import Testing

@Suite("size of a sealed payload", .ownThreads)
struct SizeTests {
    static func inner(bodyCount: Int) -> Data {
        Data(#"{"aps":{"alert":{"body":"\#(String(repeating: "x", count: bodyCount))"}}}"#.utf8)
    }

    @Test("--pad max pads to the limit and never above it", arguments: [4096, 4095, 4094, 1000, 999, 998, 997])
    func limit(_ limit: Int) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let counts = try [1, 100, 300].map { count in
            try place.sealed(
                to: "Keys/ios", "--pad", "max", "--limit", "\(limit)", payload: Self.inner(bodyCount: count)
            ).count - 1
        }
        #expect(Set(counts).count == 1)
        // Four characters of base64url encode three bytes, so not every length is possible.
        #expect((limit - 1...limit).contains(counts[0]))
    }

    @Test("--pad N gives messages of similar length the same size")
    func multiple() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        func count(_ body: Int, _ options: String...) throws -> Int {
            let arguments = ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic] + options
            return try place.run(arguments, stdin: Self.inner(bodyCount: body)).payload.count
        }
        #expect(try count(1) == count(20))
        #expect(try count(1) == count(1, "--pad", "128"))
        #expect(try count(1, "--pad", "1024") == count(700, "--pad", "1024"))
        #expect(try count(1, "--pad", "none") + 4 == count(4, "--pad", "none"))
        #expect(try count(1, "--pad", "1") == count(1, "--pad", "none"))
        #expect(try count(1, "--pad", "\(Int.max)") == count(1, "--pad", "max"))
    }

    @Test("the longest body that fits is sealed, and one byte more is refused with both sizes")
    func boundary() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        func seal(_ count: Int) throws -> Output {
            try place.seal(to: "Keys/ios", payload: Self.inner(bodyCount: count))
        }
        var (fits, tooLong) = (0, 4096)
        while tooLong - fits > 1 {
            let middle = (fits + tooLong) / 2
            if try seal(middle).exit == 0 { fits = middle } else { tooLong = middle }
        }
        let longest = try seal(fits)
        #expect((4095...4096).contains(longest.payload.count))
        #expect(try place.open(keys: "Keys/ios", payload: longest.stdout).payload == Self.inner(bodyCount: fits))
        let refused = try seal(tooLong)
        expectRefusal(refused, 65, saying: "the limit is 4096")
        let needed = try #require(refused.stderr.firstMatch(of: /takes (\d+) bytes/)?.1)
        #expect((4097...4098).contains(try #require(Int(needed))))
    }

    @Test("a limit below the placeholder is refused")
    func tiny() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        expectRefusal(try place.seal(to: "Keys/ios", "--limit", "1"), 65, saying: "the limit is 1")
    }
}
