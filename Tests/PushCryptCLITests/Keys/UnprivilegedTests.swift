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
        expectRefusal(output, 77, saying: "Permission denied")
        #expect(try place.names(in: "locked").isEmpty)
    }

    @Test("keys list of an unreadable file exits 77")
    func read() throws {
        let place = try makePlace()
        try place.write(Data("{}".utf8), to: "unreadable.json", mode: 0o000)
        let output = try place.shell("\(Unprivileged.prefix) \"$PUSHCRYPT\" keys list unreadable.json")
        expectRefusal(output, 77, saying: "unreadable.json")
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
