import Foundation
import PushCryptTestSupport
import Testing

/// Every input line becomes an output line or a refused line, in its place.
@Suite("order of a batch's lines", .ownThreads)
struct BatchOrderTests {
    @Test(
        "good, bad and long lines are all written or refused, in their order",
        arguments: zip([1, 2, 3], ["1", "2", "5"]))
    func mixture(_ seed: UInt64, _ jobs: String) throws {
        let batch = try BatchPlace()
        var random = SplitMix64(seed: seed)
        let lines = (0..<600).map { Self.line($0, &random) }
        let input = BatchPlace.data(lines.map(\.text))
        let hasLastNewline = Bool.random(using: &random)
        let output = try batch.place.run(
            BatchPlace.seal + ["--to", "fleet.json", "--errors", "errors.jsonl", "--jobs", jobs],
            stdin: hasLastNewline ? input : input.dropLast())
        let good = lines.indices.filter { lines[$0].isGood }
        let bad = lines.indices.filter { !lines[$0].isGood }
        #expect(output.exit == 65)
        #expect(output.stderr == "pushcrypt: 600 lines: \(good.count) sealed, \(bad.count) in errors.jsonl\n")
        #expect(BatchPlace.numbers(output.stdout) == good)
        let numbers = output.text.matches(of: /"pushcrypt":\{"line":(\d+),/).compactMap { Int($0.1) }
        #expect(numbers == good.map { $0 + 1 })
        let refused = try batch.place.refusedLines()
        #expect(refused.map(\.line) == bad.map { $0 + 1 })
        #expect(refused.map(\.input) == bad.map { lines[$0].text })
    }

    /// Blocks of lines end where a read ended; one line of fifty is longer than several blocks.
    private static func line(_ number: Int, _ random: inout SplitMix64) -> (text: String, isGood: Bool) {
        let isGood = Int.random(in: 0..<10, using: &random) > 0
        let length = Int.random(in: 0..<50, using: &random) == 0 ? 150_000 : Int.random(in: 0..<400, using: &random)
        let member = #","x":"\#(String(repeating: "x", count: length))"}"#
        let text = BatchPlace.line(number).dropLast() + member
        return (isGood ? String(text) : String(text.dropLast(Int.random(in: 1..<4, using: &random))), isGood)
    }

    @Test("--resume-from begins with the line that it names", arguments: [1, 2, 3, 4, 9_999])
    func resumed(_ first: Int) throws {
        let batch = try BatchPlace()
        let lines = (0..<3).map { BatchPlace.line($0) }
        let output = try batch.seal(lines, "--to", "fleet.json", "--resume-from", String(first))
        let rest = Array((0..<3).dropFirst(first - 1))
        #expect(output.exit == 0, "\(output)")
        #expect(BatchPlace.numbers(output.stdout) == rest)
        let note =
            first > 4 ? "pushcrypt: stdin ends before line \(first) (--resume-from): nothing is left to do\n" : ""
        #expect(
            output.stderr
                == note
                + "pushcrypt: \(rest.count) \(rest.count == 1 ? "line" : "lines"): \(rest.count) sealed, 0 refused\n")
        let numbers = output.text.matches(of: /"pushcrypt":\{"line":(\d+),/).compactMap { Int($0.1) }
        #expect(numbers == rest.map { $0 + 1 })
    }

    @Test("empty input exits 0 and writes an empty errors file", arguments: ["seal", "open"])
    func empty(_ command: String) throws {
        let batch = try BatchPlace()
        let output =
            command == "seal"
            ? try batch.seal([], "--to", "fleet.json", "--errors", "errors.jsonl")
            : try batch.open([], "--keys", "fleet.json", "--errors", "errors.jsonl")
        #expect(output.exit == 0 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.hasPrefix("pushcrypt: 0 lines: 0 "))
        #expect(try batch.place.read("errors.jsonl").isEmpty)
    }
}
