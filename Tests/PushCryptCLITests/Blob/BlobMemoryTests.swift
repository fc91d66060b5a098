import Foundation
import PushCryptTestSupport
import Testing

/// The memory of blob seal and blob open doesn't grow with the blob.
@Suite(
    "memory of blob seal and blob open", .ownThreads,
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/status"), "no /proc/self/status here"))
struct BlobMemoryTests {
    /// In the short form the rest is still longer than the limit of growth.
    private static let byteCount = LongTests.value(16_000_000, short: 8_000_000)

    /// Reads the peak from the running process after two megabytes and after nearly all.
    private static func script(_ command: String, from source: String) -> String {
        """
        mkfifo in; "$PUSHCRYPT" blob \(command) <in >out & child=$!; exec 3>in
        head -c 2000000 \(source) >&3; grep VmHWM /proc/$child/status
        tail -c +2000001 \(source) >&3; grep VmHWM /proc/$child/status
        exec 3>&-; wait $child
        """
    }

    private static func peaks(_ output: Output) throws -> [Int] {
        try #require(output.exit == 0, "\(output)")
        return output.text.matches(of: /VmHWM:\s+(\d+) kB/).compactMap { Int($0.1) }
    }

    @Test(
        "a blob of many megabytes needs no more memory than two megabytes",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)"))
    func flat() throws {
        let place = try Workplace()
        let made = try place.shell("head -c \(Self.byteCount) /dev/zero >plain")
        try #require(made.isSuccess)
        let seal = "seal --type a/b --reference ref --output blob"
        let open = "open --reference ref --output back"
        for (command, source) in [(seal, "plain"), (open, "blob")] {
            let output = try place.shell(Self.script(command, from: source) + "; rm in out")
            let peaks = try Self.peaks(output)
            try #require(peaks.count == 2, "\(output)")
            #expect(peaks[1] - peaks[0] < 4_096, "\(peaks)")
            #expect(peaks[0] < 65_536, "\(peaks)")
        }
        #expect(try place.shell("cmp plain back").isSuccess)
    }
}
