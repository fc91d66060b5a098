import Foundation
import PushCryptTestSupport
import Testing

/// The memory of a batch doesn't grow with the number of lines.
@Suite(
    "memory of a batch", .ownThreads,
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "no /proc/self/status here"))
struct BatchMemoryTests {
    /// The short form has few long lines: 8 MB after the first 600.
    private static let count = LongTests.areEnabled ? 200_000 : 1_400
    private static let fillingByteCount = LongTests.areEnabled ? 400 : 10_000
    private static let firstCount = LongTests.areEnabled ? 1_000 : 600

    /// Reads the peak from the running process after the first lines and after all of them. A pipe buffers 64 KiB, so that
    /// nearly all lines have been processed by then. Every tenth line is refused, and lines of 10 MB are between the
    /// others: the second one needs more memory than the first, because the heap is in parts by then.
    /// All threads share one heap: with a heap for each thread the peak depends on which threads the system chooses.
    @Test(
        "many more lines need no more memory than the first ones",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)"))
    func flat() throws {
        let batch = try BatchPlace()
        let filling = String(repeating: "x", count: Self.fillingByteCount)
        let lines = (0..<Self.count).map { number in
            let line = BatchPlace.line(number).dropLast() + #","x":"\#(filling)"}"#
            return number % 10 == 9 ? String(line.dropLast()) : String(line)
        }
        let long = String(repeating: "x", count: 10 << 20)
        let (first, rest) = (lines.prefix(Self.firstCount), lines.dropFirst(Self.firstCount))
        try batch.place.write(BatchPlace.data([long] + first.dropLast() + [long] + first.suffix(1)), to: "first")
        try batch.place.write(BatchPlace.data([long] + rest), to: "rest")
        let output = try batch.place.shell(
            """
            export MALLOC_ARENA_MAX=1; mkfifo in; \(BatchPlace.sealScript) --errors errors.jsonl --jobs 2 <in >out & child=$!; exec 3>in
            cat first >&3; grep VmHWM /proc/$child/status
            cat rest >&3; grep VmHWM /proc/$child/status
            exec 3>&-; wait $child
            """)
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr.contains("\(Self.count + 3) lines: "), "\(output)")
        let peaks = output.text.matches(of: /VmHWM:\s+(\d+) kB/).compactMap { Int($0.1) }
        try #require(peaks.count == 2, "\(output)")
        #expect(peaks[1] - peaks[0] < 4_096, "\(peaks)")
        #expect(peaks[0] < 65_536, "\(peaks)")
        #expect(BatchPlace.numbers(try batch.place.read("out")) == (0..<Self.count).filter { $0 % 10 != 9 })
    }
}
