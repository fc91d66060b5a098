import Foundation
import Testing

@Suite("a programming error in the tool", .ownThreads, .enabled(if: FaultPoints.exist, FaultPoints.missing))
struct CrashOutputTests {
    @Test(
        "a trap after keys were read prints no memory and leaves no core file, with every SWIFT_BACKTRACE and ulimit",
        arguments: ["enable=yes,interactive=no,registers=all,threads=all", "enable=no"])
    func afterKeysWereRead(settings: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let before = try place.names()
        let output = try place.shell(
            """
            ulimit -c unlimited
            export SWIFT_BACKTRACE="\(settings)" PUSHCRYPT_FAULT_POINT="keys-read trap"
            exec "$PUSHCRYPT" seal --to Keys/ios --topic \(Workplace.topic)
            """, stdin: Workplace.inner)
        #expect(output.signal != nil && output.stdout.isEmpty, "\(output)")
        // The runtime prints this line. The backtracer would print the memory at each register in bytes.
        #expect(output.stderr.contains("FaultPoint.swift"))
        #expect(!output.stderr.contains("Program crashed"), "\(output.stderr)")
        #expect(!output.stderr.contains(/[0-9a-f]{2} [0-9a-f]{2} [0-9a-f]{2} [0-9a-f]{2}/), "\(output.stderr)")
        for secret in try place.secrets(in: "Keys/ios") { #expect(!output.stderr.contains(secret)) }
        #expect(try place.names() == before)
    }
}
