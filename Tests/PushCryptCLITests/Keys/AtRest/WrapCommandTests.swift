import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("the wrap command of the tool", .ownThreads)
struct WrapCommandTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }

    init() throws {
        encrypted = try EncryptedPlace()
    }

    /// `keys secret set` has the old passphrase in its environment, or open, while it calls the new command.
    @Test(
        "the wrap command's environment and descriptors contain no passphrase",
        .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "no /proc"))
    func passphrases() throws {
        try encrypted.create("Keys/ios", .sender)
        let spy = "env >environment; { ls -l /proc/$$/fd | cat >descriptors; }; cp /proc/self/status .; sh kms"
        let script = """
            MARK=here PUSHCRYPT_PASSPHRASE='\(EncryptedPlace.passphrase)' "$PUSHCRYPT" keys secret set Keys/ios \
            --passphrase-file /dev/fd/7 --new-wrap-command '\(spy)' --at \(Workplace.now) 7<pass 8<other
            """
        let output = try place.shell(script)
        #expect(output.isSuccess, "\(output)")
        func text(_ name: String) throws -> String { String(decoding: try place.read(name), as: UTF8.self) }
        #expect(try text("environment").contains("MARK=here"))
        #expect(try !text("environment").contains("PASSPHRASE") && !text("environment").contains("horse"))
        #expect(try !text("descriptors").contains("/pass") && !text("descriptors").contains("/other"))
        #expect(try !text("descriptors").contains("Keys"))
        // The tool ignores SIGPIPE; its helpers don't.
        let ignored = try #require(try text("status").firstMatch(of: /SigIgn:\t([0-9a-f]+)/)?.1)
        #expect(try #require(Int(ignored, radix: 16)) & 1 << 12 == 0)
    }

    @Test("the wrap command's stderr is shown, and the error names the failed step")
    func words() throws {
        let output = try place.shell(
            "\"$PUSHCRYPT\" keys create Keys/ios --kind sender --wrap-command 'echo no route to KMS >&2; exit 7;'")
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(output)")
        #expect(
            output.stderr.hasPrefix(
                "no route to KMS\npushcrypt: Keys/ios.keyset: the command that wraps data keys failed to wrap"))
        #expect(!place.has("Keys"))
    }

    @Test("a wrap command that fails or returns a wrong key is refused")
    func unwrapping() throws {
        try encrypted.create("Keys/ios", .recipient, isCommand: true)
        func export(_ command: String) throws -> Output {
            try place.run("keys", "export", "Keys/ios", "--wrap-command", command)
        }
        expectRefusal(try export("exit 9;"), 65, saying: "failed to unwrap: exit status 9")
        expectRefusal(try export("cat /dev/zero;"), 65, saying: "failed to unwrap: it printed more than 4096 bytes")
        expectRefusal(try export("head -c 32 /dev/zero; true"), 65, saying: "somebody without the secret changed it")
        expectRefusal(try encrypted.run("keys export Keys/ios"), 64, saying: "Keys/ios.keyset is encrypted")
        #expect(try export("sh kms").isSuccess)
        let added = try encrypted.run(
            "keys secret add Keys/ios --name safe --new-passphrase-file other --at \(Workplace.now)", .command)
        #expect(added.exit == 0, "\(added)")
        expectRefusal(try export("exit 9;"), 65, saying: "Other secrets open the keyset, too: safe (passphrase)")
    }
}
