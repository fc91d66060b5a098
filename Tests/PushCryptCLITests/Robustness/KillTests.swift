import Foundation
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// `kill -9` at the steps of a change. `LockTests` and `Life` have crashes of the library.
@Suite("a change that is killed", .ownThreads, .enabled(if: FaultPoints.exist, FaultPoints.missing))
struct KillTests {
    @Test("rotate that is killed at any step has changed all or nothing, and the next run finishes it")
    func rotate() throws {
        let points = try FaultPoints.all()
        #expect(points.isSuperset(of: ["locked", "keyset-synced", "keyset-renamed", "history-created"]))
        for point in points.subtracting(["keys-read"]) { try kill(.rotate, at: point) }
    }

    @Test(
        "every command that is killed has changed all or nothing, and the next commands work",
        arguments: ChangingCommand.all)
    func everyCommand(_ command: ChangingCommand) throws {
        for point in ["keyset-synced", "keyset-renamed"] { try kill(command, at: point) }
    }

    private func kill(_ command: ChangingCommand, at point: String) throws {
        let place = try ChangingCommand.place()
        let (old, files) = (try place.logs(), try place.contents(of: "."))
        let arguments = try command.arguments(in: place)
        let killed = try CLI.start(arguments, in: place.folder.url, environment: ["PUSHCRYPT_FAULT_POINT": point])
            .wait()
        #expect(killed.signal == SIGKILL, "\(point): \(killed)")
        let (new, left) = (try place.logs(), try place.contents(of: "."))
        let isMade = point != "locked" && !["keyset-created", "keyset-written", "keyset-synced"].contains(point)
        #expect((left.filter { !$0.key.contains(".new-") } != files) == isMade, "\(point)")
        for (path, log) in old { #expect(new[path]?.extends(log) == true, "\(point): \(path)") }
        // Of a line that was written, the keys are there.
        for path in new.keys {
            let rows = try KeysetRows(at: KeysetLocation(place.folder.file(path).path), .reading)
            _ = try rows.unlocked(rows.isEncrypted ? .command("'\(place.folder.path)/wrap'") : nil)
        }
        let again = try place.run(arguments)
        #expect(again.exit == 0 || isMade && !command.converges && [64, 65, 73].contains(again.exit), "\(again)")
        let secrets = try place.logs().map { ($0, $1.state.secrets.isEmpty ? [] : ["--wrap-command", "./wrap"]) }
        for (path, secret) in secrets {
            let rotate = ["rotate", path, "--settings", "pushcrypt.json", "--at", ChangingCommand.time] + secret
            #expect(try place.run(rotate).exit == 0, "\(point)")
            let settled = try place.run(rotate)
            #expect(settled.isSuccess && settled.stdout.isEmpty, "\(point): \(settled)")
        }
        let names = try place.contents(of: ".").keys
        #expect(names.allSatisfy { !$0.contains(".new-") }, "\(point): \(names)")
        for (path, log) in try place.logs() {
            let seen = try place.read("history/\(log.state.id)")
            #expect(seen.starts(with: log.bytes), "\(point): \(path)")
        }
    }
}

enum FaultPoints {
    static let missing: Comment = "a release build has no fault points"

    #if DEBUG
    static let exist = true
    #else
    static let exist = false
    #endif

    /// Those of the sources.
    static func all() throws -> Set<String> {
        let steps = try literals(in: "PushCryptFiles", /step\("([a-z-]+)"\)/)
        let reached = try ["PushCryptKeystore", "PushCryptCLI"].flatMap { target in
            try literals(in: target, /FaultPoint\.reach\("([a-z-]+(?:\\\(\$0\))?)"\)/)
        }
        return Set(
            reached.flatMap { name in
                name.hasSuffix("\\($0)") ? steps.map { name.dropLast(5) + $0 } : [name]
            })
    }

    private static func literals(in target: String, _ pattern: Regex<(Substring, Substring)>) throws -> [String] {
        let folder = Repository.root.appendingPathComponent("Sources/\(target)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try names.flatMap { name in
            try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).matches(of: pattern)
                .map { String($0.1) }
        }
    }
}
