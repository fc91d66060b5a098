import Foundation
import Testing

/// Memory doesn't grow with the queue.
@Suite(
    "reseal's memory", .ownThreads,
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "no /proc/self/status here"))
struct ResealMemoryTests {
    /// The peak after the first lines and after all of them, from the running process: a child's rusage would have the
    /// test's own memory in it. A pipe holds 64 KiB, so that nearly all has been worked off by then.
    @Test("is the same for four thousand lines as for the first thousand")
    func flat() throws {
        let rotated = try RotatedPlace()
        let lines = try queue(rotated)
        let long = Data(repeating: UInt8(ascii: "x"), count: 2 << 20) + [UInt8(ascii: "\n")]
        let longer = Data(repeating: UInt8(ascii: "x"), count: 24 << 20) + [UInt8(ascii: "\n")]
        try rotated.place.write(long + Data(lines.prefix(1_000).joined().utf8), to: "first")
        try rotated.place.write(longer + Data(lines.dropFirst(1_000).joined().utf8), to: "rest")
        let output = try rotated.place.shell(
            """
            mkfifo in; \(RotatedPlace.script) keys.json --sign-with senders.json <in >out & child=$!; exec 3>in
            cat first >&3; grep VmHWM /proc/$child/status
            cat rest >&3; grep VmHWM /proc/$child/status
            exec 3>&-; wait $child
            """)
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: 4002 lines: 3600 resealed, 0 unchanged, 402 in errors.jsonl\n")
        let peaks = output.text.matches(of: /VmHWM:\s+(\d+) kB/).compactMap { Int($0.1) }
        try #require(peaks.count == 2, "\(output)")
        #expect(peaks[1] - peaks[0] < 4_096, "\(peaks)")
        #expect(peaks[0] < 65_536, "\(peaks)")
        let numbers = try rotated.place.read("out").split(separator: UInt8(ascii: "\n")).compactMap { line in
            Int(String(decoding: line.dropFirst(5).prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self))
        }
        #expect(numbers == (0..<4_000).filter { $0 % 10 != 9 })
    }

    /// Long ones, so that few do: of every kind one; every tenth line is for a device that it doesn't name.
    private func queue(_ rotated: RotatedPlace) throws -> [String] {
        let payloads = try [nil, "phone"].flatMap { device in
            try [nil, "old-sender"].map { try rotated.payload("x", device: device, by: $0) }
        }
        return (0..<4_000).map { index in
            let isForDevice = index % 4 >= 2 && index % 10 != 9
            let payload = payloads[index % 10 == 9 ? 2 : index % 4]
            let device = isForDevice ? #","device":"phone""# : ""
            return #"{"n":\#(index)\#(device),"payload":\#(payload),"x":"\#(String(repeating: "x", count: 3_000))"}"#
                + "\n"
        }
    }
}
