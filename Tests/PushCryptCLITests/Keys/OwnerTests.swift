import Foundation
import PushCryptCore
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The owner of a file can change its mode and its content at any time.
@Suite(
    "files of another user", .ownThreads, .enabled(if: geteuid() == 0, "only root can give files away"))
struct OwnerTests {
    @Test(
        "root refuses a keyset of another user, and is advised to work as that user",
        arguments: ["Keys/ios", "Keys/ios/keyset.json"])
    func keyset(_ path: String) throws {
        let place = try makePlace()
        let sealed = try place.sealed(to: "Keys/other")
        _ = try place.shell("chown 65534 \(path)")
        for output in [
            try place.run("keys", "list", "Keys/ios"), try place.run("keys", "export", "Keys/ios", "--device", "one"),
            try place.run("keys", "verify", "Keys/ios"), try place.run("rotate", "Keys/ios"),
            try place.run("keys", "add", "Keys/ios"), try place.seal(to: "Keys/ios"),
            try place.seal(to: "Keys/other", "--sign-with", "Keys/ios"),
            try place.open(keys: "Keys/ios", payload: sealed),
            try place.open(keys: "Keys/other", "--trust", "Keys/ios", payload: sealed),
        ] {
            expectRefusal(output, 77, saying: "\(path) belongs to user 65534")
        }
        let refused = try place.run("keys", "list", "Keys/ios")
        expectRefusal(refused, 77, saying: ": work as that user")
        #expect(!refused.stderr.contains("chown"), "\(refused)")
    }

    @Test("a file of root in a keystore of another user: root is advised to work as that user")
    func rootsFileInAnotherKeystore() throws {
        let place = try makePlace()
        _ = try place.shell("chown -R 65534 Keys && chown 0 Keys/ios")
        let doctor = try place.run("keys", "doctor", "Keys/ios")
        #expect(doctor.text.contains("\n         work as user 65534\n") && !doctor.text.contains("chown"), "\(doctor)")
    }

    @Test("keys create and keys restore in a keystore of another user exit 77 and make nothing")
    func otherKeystore() throws {
        let place = try makePlace()
        try place.write(Data("correct horse".utf8), to: "passphrase")
        try place.succeed(
            "keys", "backup", "Keys/ios", "--to", "ios.backup", "--backup-passphrase-file", "passphrase",
            at: Workplace.now)
        _ = try place.shell("mkdir -m 700 theirs && chown 65534 theirs")
        for command in [
            ["keys", "create", "theirs/new", "--kind", "sender", "--insecure-plaintext"],
            ["keys", "restore", "--from", "ios.backup", "theirs/ios", "--backup-passphrase-file", "passphrase"],
        ] {
            let output = try place.run(command)
            expectRefusal(
                output, 77, saying: "theirs belongs to user 65534, who can change it at any time: work as that user")
        }
        #expect(try place.shell("ls -A theirs").text.isEmpty)
    }

    @Test("root refuses a passphrase file, an audit log and a recipient directory of another user")
    func otherFiles() throws {
        let place = try makePlace()
        try place.createEncrypted("Keys/push", .sender)
        try place.write(Data(), to: "recipients.jsonl")
        _ = try place.shell("chown 65534 passphrase Keys/ios/audit.jsonl recipients.jsonl")
        expectRefusal(
            try place.run("keys", "export", "Keys/push", "--passphrase-file", "passphrase"), 77,
            saying: "passphrase belongs to user 65534")
        expectRefusal(
            try place.run("keys", "log", "Keys/ios"), 77, saying: "Keys/ios/audit.jsonl belongs to user 65534")
        expectRefusal(
            try place.run("recipients", "check", "recipients.jsonl"), 77,
            saying: "recipients.jsonl belongs to user 65534")
    }

    @Test(
        "a passphrase file of root that its group can read is accepted",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func root() throws {
        let place = try makePlace()
        try place.createEncrypted("Keys/push", .sender)
        try place.giveAway()
        // As a container platform mounts a secret: root's, for the group of the program to read.
        _ = try place.shell("chown 0:65534 passphrase && chmod 440 passphrase")
        let output = try place.shell(
            "\(Unprivileged.prefix) \"$PUSHCRYPT\" keys export Keys/push --passphrase-file passphrase")
        #expect(output.isSuccess, "\(output)")
    }

    @Test("the published demo keys are accepted from every owner")
    func demo() throws {
        let place = try Workplace()
        try place.copyDemoKeys()
        _ = try place.shell("chown -R 65534 Keys/demo")
        let sealed = try place.seal(to: "Keys/demo/recipient", "--allow-demo-keys")
        #expect(sealed.isSuccess, "\(sealed)")
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        try place.create("Keys/other", "recipient")
        return place
    }
}
