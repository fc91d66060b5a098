import Foundation
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@Suite("many processes that use one keyset", .ownThreads)
struct ConcurrentCommandTests {
    @Test("of two rotate --now at once, one adds a key, and the other finds it")
    func twice() throws {
        let place = try ChangingCommand.place()
        let rotate = ["rotate", "Keys/fleet", "--now", "--at", ChangingCommand.time]
        let started = try (1...2).map { _ in try CLI.start(rotate, in: place.folder.url) }
        let outputs = try started.map { try $0.wait() }
        #expect(outputs.allSatisfy { $0.exit == 0 }, "\(outputs)")
        #expect(outputs.count { !$0.stdout.isEmpty } == 1, "\(outputs)")
        #expect(try place.states("Keys/fleet", at: ChangingCommand.time).count { $0 == "pending" } == 1)
    }

    private static let commands = [
        ["rotate", "Keys/ios", "--now", "--at-once"], ["keys", "policy", "Keys/ios", "--keep", "N"],
        ["keys", "list", "Keys/ios"], ["keys", "export", "Keys/ios"], ["rotate", "Keys/ios"],
        ["seal", "--to", "Keys/ios", "--topic", Workplace.topic], ["rotate", "Keys/ios", "--dry-run"],
    ]

    @Test(
        "changes and readers at once lose no change and no key, and all succeed",
        arguments: [(false, LongTests.value(84, short: 28)), (true, LongTests.value(84, short: 14))])
    func concurrently(_ isEncrypted: Bool, _ count: Int) throws {
        let place = try Workplace()
        try place.writeWrapCommand("wrap")
        let protection = isEncrypted ? ["--wrap-command", "./wrap"] : ["--insecure-plaintext"]
        let secret = isEncrypted ? protection : []
        let create = ["keys", "create", "Keys/ios", "--kind", "recipient", "--at", Workplace.now] + protection
        try #require(place.run(create).exit == 0)
        let started = try (0..<count).map { index in
            let command = Self.commands[index % Self.commands.count].map { $0 == "N" ? "\(10 + index)" : $0 }
            let arguments = command + (command[1] == "list" ? [] : secret) + ["--at", Workplace.now]
            return (command, try CLI.start(arguments, stdin: Workplace.inner, in: place.folder.url))
        }
        for (command, started) in started {
            let output = try started.wait()
            #expect(output.exit == 0 || command.contains("--dry-run") && output.exit == 10, "\(command): \(output)")
        }
        let log = try place.log("Keys/ios")
        let rounds = count / Self.commands.count
        // rotate --now makes a key each time; of the policies the last one remains.
        #expect(log.state.keys.count == 1 + rounds)
        #expect(log.lines.count { $0.action == .policy } == rounds)
        #expect(log.lines.count >= 1 + 2 * rounds)
        let rows = try KeysetRows(at: KeysetLocation(place.folder.file("Keys/ios").path), .reading)
        let material = try rows.unlocked(isEncrypted ? .command("'\(place.folder.path)/wrap'") : nil)
        #expect(material.records.count == 1 + rounds)
        #expect(try place.names(in: "Keys") == ["ios.keyset"])
    }
}
