import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite("WrapCommand")
struct WrapCommandTests {
    @Test("a wrapped data key is unwrapped to the same key")
    func roundTrip() throws {
        let helper = try HelperScript()
        let wrapped = try helper.command.wrap(HelperScript.dataKey)
        #expect(wrapped == [UInt8(ascii: "W")] + (0..<32).map { UInt8(truncatingIfNeeded: $0 * 8 + 3 + 128) })
        #expect(try helper.command.unwrap(wrapped, count: 32) == HelperScript.dataKey)
    }

    @Test("a keyset that a command wrapped opens only with a command that unwraps the same key")
    func keyset() throws {
        let helper = try HelperScript()
        let (log, material) = try SealedSample.keyset(.all[0], SealedSample.secrets([helper.secret]))
        let rows = try KeysetRows(material.file(log))
        #expect(rows.namedSecrets.map(\.protection) == [.command])
        #expect(try rows.unlocked(helper.secret).jwks() == material.jwks())
        #expect(KeysetLogError.Code.thrown { try rows.unlocked(SealedSample.passphrase()) } == .secretNeeded)
        let otherKey = try HelperScript(unwrap: Self.zeros)
        #expect(KeysetLogError.Code.thrown { try rows.unlocked(otherKey.secret) } == .notAuthentic)
    }

    @Test("a command that fails is named with the keyset's other secrets, and one that works opens beside passphrases")
    func others() throws {
        let helper = try HelperScript()
        let secrets = try SealedSample.secrets([SealedSample.passphrase(), helper.secret])
        let (log, material) = try SealedSample.keyset(.all[3], secrets)
        let rows = try KeysetRows(material.file(log))
        #expect(try rows.unlocked(helper.secret).records.count == 1)
        let error = #expect(throws: KeystoreError.self) { try rows.unlocked(.command("exit 1;")) }
        #expect(error?.code == .wrapCommandFailed)
        #expect(error?.reason.contains("s1") == true)
    }

    @Test("a command gets its keyset's id and name in the environment, and no passphrase")
    func variables() throws {
        let id = try KeysetID.random()
        let helper = try HelperScript(wrap: "printenv >variables; \(HelperScript.wrap)")
        let secret = helper.secret.of(KeysetLocation("Keys/app"), id)
        _ = try SealedSample.secrets([secret])
        let variables = try helper.text("variables").split(separator: "\n")
        #expect(variables.contains("PUSHCRYPT_KEYSET_ID=\(id)"))
        #expect(variables.contains("PUSHCRYPT_KEYSET_NAME=app"))
        #expect(!variables.contains { $0.hasPrefix("PUSHCRYPT_PASSPHRASE=") })
    }

    private static let zeros = "cat >/dev/null; head -c 32 /dev/zero"

    @Test("a command may print a wrapped key of 4,096 bytes")
    func longest() throws {
        let helper = try HelperScript(wrap: "cat; head -c 4064 /dev/zero | tr '\\000' x", unwrap: "head -c 32")
        // This command prints 4,096 bytes that contain the data key: the error is about the key and not about the length.
        let error = #expect(throws: KeystoreError.self) { try helper.command.wrap(HelperScript.dataKey) }
        #expect(error?.reason.contains("the data key unwrapped") == true)
        let padded = try HelperScript(
            wrap: "\(HelperScript.wrap); head -c 4063 /dev/zero",
            unwrap: "head -c 33 | { \(HelperScript.unwrap); }")
        let wrapped = try padded.command.wrap(HelperScript.dataKey)
        #expect(wrapped.count == 4_096)
        #expect(try padded.command.unwrap(wrapped, count: 32) == HelperScript.dataKey)
    }

    @Test("a command that doesn't read its input is accepted")
    func unread() throws {
        let helper = try HelperScript(wrap: "cat >key; echo token", unwrap: "exec <&-; cat key")
        let wrapped = try helper.command.wrap(HelperScript.dataKey)
        #expect(wrapped == Array("token\n".utf8))
        // The command reads none of these bytes and closes its stdin at once.
        let much = [UInt8](repeating: 1, count: 4_096)
        #expect(try helper.command.unwrap(much, count: 32) == HelperScript.dataKey)
    }

    /// As `aws kms encrypt --plaintext fileb:///dev/stdin` does; a socket can't be opened again.
    @Test("a command can open its standard streams by name")
    func streamsByName() throws {
        let helper = try HelperScript(
            wrap: "printf W >/dev/stdout; LC_ALL=C tr '\\000-\\377' '\\200-\\377\\000-\\177' </dev/stdin >/dev/stdout")
        let wrapped = try helper.command.wrap(HelperScript.dataKey)
        #expect(try helper.command.unwrap(wrapped, count: 32) == HelperScript.dataKey)
    }

    struct Fault: Sendable, CustomStringConvertible {
        let wrap: String
        var unwrap = HelperScript.unwrap
        let reason: String

        var description: String { reason }
    }

    static let faults = [
        Fault(wrap: "exit 3", reason: "failed to wrap: exit status 3"),
        Fault(wrap: "\(HelperScript.wrap); exit 1", reason: "failed to wrap: exit status 1"),
        Fault(wrap: "\(HelperScript.wrap); kill -9 $$", reason: "failed to wrap: exit status 137"),
        Fault(wrap: "kill -TERM $$", reason: "failed to wrap: exit status 143"),
        Fault(wrap: "true", reason: "failed to wrap: it printed nothing"),
        Fault(wrap: "exec >&-", reason: "failed to wrap: it printed nothing"),
        Fault(wrap: "cat", reason: "failed to wrap: it printed the data key unwrapped"),
        Fault(wrap: "printf a; cat; printf z", reason: "failed to wrap: it printed the data key unwrapped"),
        Fault(wrap: "head -c 4097 /dev/zero", reason: "failed to wrap: it printed more than 4096 bytes"),
        Fault(wrap: "exec cat /dev/zero", reason: "failed to wrap: it printed more than 4096 bytes"),
        Fault(
            wrap: "trap '' PIPE; while :; do printf 0123456789; done",
            reason: "failed to wrap: it printed more than 4096 bytes"),
        Fault(wrap: "echo 1", unwrap: "exit 2", reason: "failed to unwrap: exit status 2"),
        Fault(wrap: "echo 1", unwrap: "cat", reason: "failed to unwrap: it printed 2 bytes, not 32"),
        Fault(wrap: "echo 1", unwrap: "head -c 31 /dev/zero", reason: "failed to unwrap: it printed 31 bytes, not 32"),
        Fault(wrap: "echo 1", unwrap: "head -c 33 /dev/zero", reason: "failed to unwrap: it printed 33 bytes, not 32"),
        Fault(wrap: "echo 1", unwrap: zeros, reason: "failed to unwrap: the wrapped data key unwraps to another key"),
    ]

    @Test("a command that fails is reported with its reason", arguments: faults)
    func failures(_ fault: Fault) throws {
        let helper = try HelperScript(wrap: fault.wrap, unwrap: fault.unwrap)
        let error = #expect(throws: KeystoreError.self) { try helper.command.wrap(HelperScript.dataKey) }
        #expect(error?.code == .wrapCommandFailed)
        #expect(error?.reason.contains(fault.reason) == true, "\(error?.reason ?? "")")
    }

    @Test(
        "an empty command, or one that doesn't exist, is reported as failed",
        arguments: ["", " ", "\n", "/nonexistent/kms", "pushcrypt-no-such-command"])
    func missing(_ command: String) {
        let code = KeystoreError.Code.thrown { try WrapCommand(command).wrap(HelperScript.dataKey) }
        #expect(code == .wrapCommandFailed)
    }

    /// The command and its children hold a pipe open. The pipe ends with the last of them.
    @Test(
        "a command that doesn't end in time is killed with the programs that it started",
        arguments: [
            "exec sleep 60", "sleep 60; true", "exec <&-; exec sleep 60", "exec >&-; sleep 60; true",
            "exec <&- >&-; exec sleep 60", "printf W; exec sleep 60", "sleep 60 & sleep 60; wait",
            "trap '' TERM INT HUP; exec >&-; while :; do read x </dev/null; done",
        ])
    func late(_ script: String) throws {
        let helper = try HelperScript(wrap: "exec 3>alive; : >begun; \(script)")
        let pipe = helper.folder.path + "/alive"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let end = unsafe open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(end) }
        let error = #expect(throws: KeystoreError.self) { try helper.hurriedCommand.wrap(HelperScript.dataKey) }
        #expect(error?.reason.contains("it didn't end in time and was killed") == true, "\(error?.reason ?? "")")
        var item = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&item, 1, 30_000) == 1)
        #expect(Int32(item.revents) & POLLHUP != 0)
    }
}
