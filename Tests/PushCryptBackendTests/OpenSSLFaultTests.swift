#if canImport(Glibc)
import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// The test program of Tests/deep/faults/run: a process of its own, because the allocator and the random source are global.
@Suite("OpenSSL that fails") struct OpenSSLFaultTests {
    /// Those that an ordinary run has time for, and that together call every kind of object.
    private static let operations = everywhere + (hasXWing ? ofXWing : [])
    private static let ofXWing = ["read the JWK xwing psk", "open xwing, signed", "rotate a keyset of X-Wing"]
    private static let everywhere = [
        "generate P-256", "generate X25519", "read the JWK p256 psk", "read the JWK sender", "refuse a scalar of zero",
        "refuse a point off the curve", "encrypt with PBES2", "seal x25519 psk, signed", "open p256, signed",
        "open shared, signed", "refuse a changed tag, x25519", "verify", "refuse a signature", "sign a sender set",
        "verify a signed sender set", "refuse a sender set with another payload", "change a keyset over to X25519",
    ]
    private static let hasXWing = Backends.openSSL.backend.supports(.xWing)

    @Test func `an operation that lacks memory throws backendFailure, leaks nothing and works again`() throws {
        let output = try run(["allocations"] + (LongTests.areEnabled ? [] : Self.operations))
        #expect(output.ending == .exit(0), "\(output.text)")
        #expect(try output.failures > 300, "\(output.text)")
    }

    @Test func `an operation that lacks random bytes throws backendFailure and never succeeds`() throws {
        let output = try run(["random"])
        #expect(output.ending == .exit(0), "\(output.text)")
        #expect(try output.failures >= 60, "\(output.text)")
    }

    @Test func `the first operation of a process that lacks memory throws backendFailure or succeeds`() throws {
        let step = LongTests.value("7", short: "61")
        let output = try run(
            ["cold", "--step", step, "generate P-256", "open x25519 psk, signed"]
                + (Self.hasXWing ? ["open xwing, signed"] : []))
        #expect(output.ending == .exit(0), "\(output.text)")
        #expect(try output.failures > 10, "\(output.text)")
    }

    private struct Output {
        let ending: ChildProcess.Ending
        let text: String

        var failures: Int {
            get throws { try #require(text.matches(of: /(\d+) failures:/).last.flatMap { Int($0.1) }) }
        }
    }

    private func run(_ arguments: [String]) throws -> Output {
        let folder = try TemporaryFolder()
        try Data().write(to: folder.file("stdout"))
        let child = try ChildProcess(
            executable: BuiltProduct.url("PushCryptFaults").path, arguments: arguments,
            environment: ["SWIFT_BACKTRACE": "enable=no"], folder: folder.path, stdin: "/dev/null",
            stdout: folder.file("stdout").path, stderr: "/dev/null")
        let ending = try child.run()
        return Output(
            ending: ending, text: String(decoding: try Data(contentsOf: folder.file("stdout")), as: UTF8.self))
    }
}
#endif
