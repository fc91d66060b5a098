import Foundation
import PushCryptTestSupport
import Testing

/// The memory of reseal doesn't grow with the number of lines.
@Suite(
    "memory of reseal", .ownThreads,
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "no /proc/self/status here"))
struct ResealMemoryTests {
    private static let count = LongTests.value(4_000, short: 2_000)
    private static let filling = String(repeating: "x", count: LongTests.value(3_000, short: 6_000))
    private static let longLineByteCount = LongTests.value(24 << 20, short: 10 << 20)

    /// Reads the peak from the running process after half of the lines and after all of them: a child's rusage would
    /// include the test's own memory. A pipe buffers 64 KiB, so that nearly all lines have been processed by then. The
    /// first half is long enough to fill every buffer. All threads share one heap: with a heap for each thread the peak depends
    /// on which threads the system chooses.
    @Test("twice as many lines need no more memory", .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)"))
    func flat() throws {
        let rotated = try RotatedPlace()
        let lines = try queue(rotated)
        let long = Data(repeating: UInt8(ascii: "x"), count: 2 << 20) + [UInt8(ascii: "\n")]
        let longer = Data(repeating: UInt8(ascii: "x"), count: Self.longLineByteCount) + [UInt8(ascii: "\n")]
        try rotated.place.write(long + Data(lines.prefix(Self.count / 2).joined().utf8), to: "first")
        try rotated.place.write(longer + Data(lines.dropFirst(Self.count / 2).joined().utf8), to: "rest")
        let output = try rotated.place.shell(
            """
            export MALLOC_ARENA_MAX=1; mkfifo in; \(RotatedPlace.script) keys.json --sign-with senders.json <in >out & child=$!; exec 3>in
            cat first >&3; grep VmHWM /proc/$child/status
            cat rest >&3; grep VmHWM /proc/$child/status
            exec 3>&-; wait $child
            """)
        #expect(output.exit == 65, "\(output)")
        let bad = Self.count / 10
        #expect(
            output.stderr
                == "pushcrypt: \(Self.count + 2) lines: \(Self.count - bad) resealed, 0 unchanged, \(bad + 2) in errors.jsonl\n"
        )
        let peaks = output.text.matches(of: /VmHWM:\s+(\d+) kB/).compactMap { Int($0.1) }
        try #require(peaks.count == 2, "\(output)")
        #expect(peaks[1] - peaks[0] < 4_096, "\(peaks)")
        #expect(peaks[0] < 65_536, "\(peaks)")
        let numbers = try rotated.place.read("out").split(separator: UInt8(ascii: "\n")).compactMap { line in
            Int(String(decoding: line.dropFirst(5).prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self))
        }
        #expect(numbers == (0..<Self.count).filter { $0 % 10 != 9 })
    }

    /// Long lines, so that few are enough. Every tenth is sealed to a device that it doesn't name.
    private func queue(_ rotated: RotatedPlace) throws -> [String] {
        let payloads = try [nil, "phone"].flatMap { device in
            try [nil, "old-sender"].map { try rotated.payload("x", device: device, by: $0) }
        }
        return (0..<Self.count).map { index in
            let isForDevice = index % 4 >= 2 && index % 10 != 9
            let payload = payloads[index % 10 == 9 ? 2 : index % 4]
            let device = isForDevice ? #","device":"phone""# : ""
            return #"{"n":\#(index)\#(device),"payload":\#(payload),"x":"\#(Self.filling)"}"#
                + "\n"
        }
    }
}
