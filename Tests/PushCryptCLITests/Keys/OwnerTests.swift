import Foundation
import PushCryptCore
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What every command refuses that reads or changes a keyset.
@Suite("modes and owners of keysets", .ownThreads)
struct OwnerTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("Keys/ios", "shared")
        try place.createEncrypted("Keys/push", .sender)
    }

    private static let commands = [
        "keys export Keys/ios --device one", "keys policy Keys/ios --keep 3", "rotate Keys/ios --now",
        "keys secret add Keys/ios --name x --new-passphrase-file passphrase",
    ]

    private func run(_ command: String) throws -> Output {
        try place.run(command.split(separator: " ").map(String.init) + ["--at", Workplace.now])
    }

    @Test("a file that others can use is refused with its chmod, which helps", arguments: [0o644, 0o601])
    func file(_ mode: Int) throws {
        try place.setMode(mode, of: "Keys/ios.keyset")
        for command in Self.commands {
            expectRefusal(try run(command), 77, saying: "chmod 600 Keys/ios.keyset")
        }
        _ = try place.shell("chmod 600 Keys/ios.keyset")
        #expect(try run(Self.commands[0]).isSuccess)
    }

    @Test("a keystore in which others can write is refused by changes, and its keysets are read")
    func keystore() throws {
        try place.setMode(0o777, of: "Keys")
        for command in Self.commands.dropFirst() { expectRefusal(try run(command), 77, saying: "chmod go-w Keys") }
        #expect(try run(Self.commands[0]).isSuccess)
        // As git makes it.
        try place.setMode(0o755, of: "Keys")
        for command in Self.commands.prefix(3) { #expect(try run(command).exit == 0) }
    }

    @Test("a link to a keyset is read; changes exit 78 and name its target")
    func link() throws {
        _ = try place.shell("mkdir -m 700 other && mv Keys/ios.keyset other/ && ln -s ../other/ios.keyset Keys/")
        #expect(try run(Self.commands[0]).isSuccess)
        let before = try place.read("other/ios.keyset")
        for command in Self.commands.dropFirst() {
            expectRefusal(try run(command), 78, saying: "Keys/ios.keyset is a symbolic link: change its target, /")
        }
        #expect(try place.read("other/ios.keyset") == before)
    }

    @Test(
        "root refuses keysets, keystores and passphrases of another user, and is advised to work as that user",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func foreign() throws {
        _ = try place.shell("chown 65534 Keys/ios.keyset passphrase; mkdir -m 700 theirs; chown 65534 theirs")
        for command in Self.commands.dropLast() {
            expectRefusal(try run(command), 77, saying: "Keys/ios.keyset belongs to user 65534, who can")
        }
        expectRefusal(
            try run("keys export Keys/push --passphrase-file passphrase"), 77,
            saying: "passphrase belongs to user 65534")
        expectRefusal(
            try run("keys create theirs/new --kind sender --insecure-plaintext"), 77,
            saying: "theirs belongs to user 65534")
        #expect(try place.names(in: "theirs").isEmpty)
    }

    @Test("public keys in a file that every user can read are used, and a private one is refused with its chmod")
    func keyFiles() throws {
        try place.write(Data(BatchPlace.registration("p256").utf8), to: "public.json", mode: 0o644)
        #expect(try place.seal(to: "public.json").isSuccess)
        try place.write(Data(BatchPlace.jwk("sender").utf8), to: "sender.json", mode: 0o644)
        let refused = try place.seal(to: "public.json", "--sign-with", "sender.json")
        expectRefusal(refused, 77, saying: "chmod 600 sender.json")
        #expect(refused.stderr.contains("defaultMode: 0400"), "\(refused)")
    }

    /// The mount folder of Kubernetes has mode 1777, and the file is a link through a link that is exchanged.
    @Test("a mounted keyset is read, and no command changes it")
    func mountedSecret() throws {
        let output = try place.shell(
            """
            mkdir -p mount/..2026_1 && cp -p Keys/ios.keyset mount/..2026_1/ && chmod 755 mount/..2026_1
            ln -s ..2026_1 mount/..data && ln -s ..data/ios.keyset mount/ios.keyset && chmod 1777 mount
            """)
        try #require(output.isSuccess, "\(output)")
        #expect(try place.seal(to: "mount/ios").isSuccess)
        let refused = try place.run("keys", "policy", "mount/ios", "--keep", "3", "--at", Workplace.now)
        expectRefusal(refused, 77, saying: "chmod go-w mount")
    }
}
