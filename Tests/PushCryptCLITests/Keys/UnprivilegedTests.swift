import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Root can write everywhere. As root, these tests run the binary as user 65534.
@Suite(
    "folders and files without permission", .ownThreads, .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
struct UnprivilegedTests {
    @Test("keys create in a folder without permission exits 77 and leaves no file", arguments: ["ios", "new/ios"])
    func create(_ name: String) throws {
        let place = try makePlace()
        let output = try place.shell(
            "\(Unprivileged.prefix) \"$PUSHCRYPT\" keys create locked/\(name) --kind shared --insecure-plaintext")
        expectRefusal(output, 77, saying: "locked")
        #expect(try place.names(in: "locked").isEmpty)
    }

    static let modes = [
        (0o000, "Keys/senders.keyset", "chmod 600 Keys/senders.keyset"), (0o000, "Keys", "chmod 700 Keys"),
        (0o400, "Keys", "chmod 700 Keys"),
    ]

    @Test("the owner of a keyset who can't read it learns the chmod, and then it works", arguments: modes)
    func ownMode(_ mode: Int, _ path: String, _ advice: String) throws {
        let place = try makeKeystore()
        for command in ["keys export Keys/senders", "keys policy Keys/senders --keep 3", "rotate Keys/senders"] {
            try place.setMode(mode, of: path)
            let output = try runUnprivileged(command, place)
            #expect(output.exit == 77 && output.stdout.isEmpty && output.stderr.contains(advice), "\(output)")
            #expect(try place.shell(advice).isSuccess)
            #expect(try runUnprivileged(command, place).exit == 0)
        }
    }

    private func makeKeystore() throws -> Workplace {
        let place = try makePlace()
        try place.create("Keys/app", "recipient")
        try place.create("Keys/senders", "sender")
        try place.giveAway()
        return place
    }

    private func runUnprivileged(_ command: String, _ place: Workplace) throws -> Output {
        let time = command.hasPrefix("blob") ? "" : "--at \(Workplace.now)"
        return try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" \(command) \(time) </dev/null")
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.setMode(0o755, of: ".")
        try place.makeFolder("locked", mode: 0o555)
        return place
    }
}

enum Unprivileged {
    static let missing: Comment = "run by root without setpriv, which runs the binary as another user"

    static let prefix = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""

    static let isAvailable = (try? CLI.shell("\(prefix) \"$PUSHCRYPT\" --version"))?.exit == 0
}

extension Workplace {
    /// Gives all files to the user that ``Unprivileged`` runs the binary as.
    func giveAway() throws {
        guard geteuid() == 0 else { return }
        let output = try shell("chown -R 65534:65534 .")
        try #require(output.isSuccess, "\(output)")
    }
}
