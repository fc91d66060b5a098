import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// A file with secrets must be private, whichever option names it.
@Suite("modes of a key file", .ownThreads)
struct KeyFileModeTests {
    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        try batch.place.write(Data(BatchPlace.jwk("sender").utf8), to: "sender.json")
        try batch.place.write(Data(BatchPlace.jwk("p256").utf8), to: "private.json")
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "public.json")
        try batch.place.write(Data(BatchPlace.registration("p256 psk").utf8), to: "registration.json")
        return batch
    }

    private static let options = ["--topic", Workplace.topic, "--at", Workplace.now]

    @Test(
        "a key file with secrets that other users can open is refused with the command that corrects it",
        arguments: [
            ("sender.json", ["seal", "--to", "public.json", "--sign-with", "sender.json"]),
            ("fleet.json", ["seal", "--to", "fleet.json", "--device", "d"]),
            ("registration.json", ["seal", "--to", "registration.json"]),
            ("sender.json", ["seal", "--batch", "--to", "public.json", "--sign-with", "sender.json"]),
            ("private.json", ["open", "--keys", "private.json"]),
        ])
    func loose(_ file: String, _ command: [String]) throws {
        let batch = try Self.place()
        for mode in [0o644, 0o604, 0o660, 0o602] {
            try batch.place.setMode(mode, of: file)
            let refused = try batch.place.run(command + Self.options, stdin: Workplace.inner)
            expectRefusal(refused, 77, saying: "chmod 600 \(file)")
            #expect(refused.stderr.contains("defaultMode: 0400"), "\(refused)")
        }
        for mode in [0o600, 0o400] {
            try batch.place.setMode(mode, of: file)
            let output = try batch.place.run(command + Self.options, stdin: Workplace.inner)
            #expect(output.exit != 77, "\(output)")
        }
    }

    @Test("public keys in a file that every user can read are used")
    func publicKeys() throws {
        let batch = try Self.place()
        try batch.place.setMode(0o644, of: "public.json")
        let sealed = try batch.place.run(["seal", "--to", "public.json"] + Self.options, stdin: Workplace.inner)
        #expect(sealed.isSuccess, "\(sealed)")
    }

    @Test("a key from a pipe is used: a pipe has no mode to check")
    func pipe() throws {
        let batch = try Self.place()
        let output = try batch.place.shell(
            """
            umask 022; mkfifo key; cat sender.json >key &
            echo '{"aps":{"alert":"x"}}' | "$PUSHCRYPT" seal --to public.json --sign-with key --topic \(Workplace.topic)
            """)
        #expect(output.isSuccess && output.text.contains("skid"), "\(output)")
    }

    /// The mount folder of Kubernetes has mode 1777, and the file is a link through a link that is exchanged.
    @Test("a mounted keyset is read, and no command changes it")
    func mountedSecret() throws {
        let batch = try Self.place()
        try batch.place.create("Keys/push", "sender")
        let output = try batch.place.shell(
            """
            mkdir -p mount/..2026_1 && cp -p Keys/push.keyset mount/..2026_1/ && chmod 755 mount/..2026_1
            ln -s ..2026_1 mount/..data && ln -s ..data/push.keyset mount/push.keyset && chmod 1777 mount
            """)
        try #require(output.isSuccess, "\(output)")
        let sealed = try batch.place.run(
            ["seal", "--to", "public.json", "--sign-with", "mount/push.keyset"] + Self.options, stdin: Workplace.inner)
        #expect(sealed.isSuccess, "\(sealed)")
        let refused = try batch.place.run("keys", "policy", "mount/push", "--keep", "3", "--at", Workplace.now)
        expectRefusal(refused, 77, saying: "chmod go-w mount")
    }
}
