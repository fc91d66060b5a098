import Foundation
import Testing

/// Memory doesn't grow with the batch.
@Suite(
    "a batch's memory",
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "no /proc/self/status here"))
struct BatchMemoryTests {
    private static let count = LongTests.areWanted ? 200_000 : 12_000

    /// The peak after the first lines and after all of them, from the running process: a pipe holds 64 KiB, so that nearly
    /// all have been worked off by then. Every tenth line is refused.
    @Test("is the same for many thousand lines as for the first two")
    func flat() throws {
        let batch = try BatchPlace()
        let filling = String(repeating: "x", count: 400)
        let lines = (0..<Self.count).map { number in
            let line = BatchPlace.line(number, filling: filling)
            return number % 10 == 9 ? String(line.dropLast()) : line
        }
        try batch.place.write(BatchPlace.data(Array(lines.prefix(2_000))), to: "first")
        try batch.place.write(BatchPlace.data(Array(lines.dropFirst(2_000))), to: "rest")
        let output = try batch.place.shell(
            """
            mkfifo in; \(BatchPlace.sealScript) --errors errors.jsonl --jobs 2 <in >out & child=$!; exec 3>in
            cat first >&3; grep VmHWM /proc/$child/status
            cat rest >&3; grep VmHWM /proc/$child/status
            exec 3>&-; wait $child
            """)
        let bad = Self.count / 10
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: \(Self.count) lines: \(Self.count - bad) sealed, \(bad) in errors.jsonl\n")
        let peaks = output.text.matches(of: /VmHWM:\s+(\d+) kB/).compactMap { Int($0.1) }
        try #require(peaks.count == 2, "\(output)")
        #expect(peaks[1] - peaks[0] < 4_096, "\(peaks)")
        #expect(peaks[0] < 65_536, "\(peaks)")
        #expect(BatchPlace.numbers(try batch.place.read("out")) == (0..<Self.count).filter { $0 % 10 != 9 })
    }
}
