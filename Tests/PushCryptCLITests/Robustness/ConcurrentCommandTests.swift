import Foundation
import PushCryptTestSupport
import Testing

@Suite("many processes that use one keyset", .ownThreads)
struct ConcurrentCommandTests {
    private static let path = "Keys/ios"
    /// A rotation is due.
    private static let time = Workplace.later(83 * Workplace.days)

    private static let commands = [
        ["rotate", path, "--json"], ["keys", "add", path, "--force", "--json"], ["keys", "list", path],
        ["keys", "verify", path], ["keys", "log", path, "--verify"], ["keys", "export", path],
        ["keys", "policy", path, "--keep", "N", "--json"], ["keys", "doctor", path],
        ["seal", "--bare", "--to", path, "--topic", Workplace.topic], ["rotate", path, "--dry-run"],
    ]

    @Test(
        "concurrent commands lose no change and end with documented statuses",
        arguments: [(false, 50), (true, LongTests.areEnabled ? 50 : 20)])
    func concurrently(_ isEncrypted: Bool, _ count: Int) throws {
        let place = try Workplace()
        try place.writeWrapCommand("wrap")
        let secret = isEncrypted ? ["--wrap-command", "sh ./wrap"] : []
        let protection = isEncrypted ? secret : ["--insecure-plaintext"]
        let created = try place.run(
            ["keys", "create", Self.path, "--kind", "recipient", "--at", Workplace.now] + protection)
        try #require(created.isSuccess, "\(created)")
        let started = try (0..<count).map { index in
            let command = Self.commands[index % Self.commands.count].map { $0 == "N" ? "\(10 + index)" : $0 }
            let needsSecret = !["list", "log", "doctor"].contains(command[1]) && command.last != "--dry-run"
            let arguments = command + (needsSecret ? secret : []) + ["--at", Self.time]
            return (command, try CLI.start(arguments, stdin: Workplace.inner, in: place.folder.url))
        }
        let outputs = try started.map { ($0, try $1.wait()) }
        for (command, output) in outputs {
            let isFine = output.exit == (command.contains("--dry-run") ? 10 : 0) || output.exit == 0
            #expect(isFine, "\(command): \(output)")
            #expect(!output.text.contains("mended") && !output.stderr.contains("interrupted"), "\(output)")
        }
        try expectWhole(place, made: outputs.map(\.1), secret)
    }

    private func expectWhole(_ place: Workplace, made outputs: [Output], _ secret: [String]) throws {
        let changes = outputs.compactMap { try? $0.object()["done"] as? [[String: Any]] }.filter { !$0.isEmpty }
        let steps = changes.flatMap(\.self)
        let stored = try StoredFile(Self.path, in: place)
        #expect(stored.sequence == 1 + changes.count)
        #expect(stored.logCount == 1 + steps.count)
        let added = steps.filter { $0["what"] as? String == "added" || $0["step"] as? String == "add" }
            .compactMap { $0["kid"] as? String }
        #expect(added.count >= outputs.count / 10)
        #expect(stored.kids.isSuperset(of: added) && stored.kids.count == 1 + added.count)
        let verified = try place.run(["keys", "verify", Self.path, "--at", Self.time] + secret)
        #expect(verified.isSuccess && !verified.text.contains("mended"), "\(verified)")
    }
}
