import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// `--served` for a keyset that a program of `--exec-on-change` publishes: the advised command runs the program again, although it
/// has succeeded.
@Suite("--served, published by a program", .ownThreads)
struct ServedByProgramTests {
    private let place: Workplace
    private let kid: String
    private static let program = """
        #!/bin/sh
        set -eu
        "$PUSHCRYPT" keys publish "$PUSHCRYPT_KEYSET" --to www --at \(Workplace.now)
        "$PUSHCRYPT" keys publish "$PUSHCRYPT_KEYSET" --to www --signed-by Publisher/app --at \(Workplace.now)

        """

    /// `old` has the sets from before a revocation, which the program has published in `www`.
    init() throws {
        let signed = try SignedSetPlace()
        place = signed.place
        kid = try signed.kid("Keys/senders")
        _ = try place.shell("mkdir -m 700 Publisher && mv Keys/publisher Publisher/app")
        try place.makeFolder("www", mode: 0o755)
        try place.write(Data(Self.program.utf8), to: "publish", mode: 0o700)
        for arguments in [["rotate", "Keys/senders"], ["keys", "revoke", "Keys/senders", "--yes"]] {
            let end = arguments[0] == "rotate" ? [] : ["--", kid]
            let output = try place.run(
                arguments + ["--exec-on-change", "./publish", "--at", Workplace.now] + end)
            try #require(output.exit == 0, "\(output)")
            if arguments[0] == "rotate" { _ = try place.shell("cp -a www old") }
        }
    }

    private func status() throws -> Output {
        try place.settle("Keys")
        return try place.run(
            "status", "Keys", "--served", "www", "--ignore", "plain-text", "--ignore", "future-file", "--at",
            Workplace.now)
    }

    /// The advice of the errors about the served sets, without repetitions.
    private func advice() throws -> [String] {
        try place.settle("Keys")
        let output = try place.run("keys", "doctor", "Keys", "--served", "www", "--json", "--at", Workplace.now)
        let found = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
        return Set(found.filter { $0["code"]?.hasPrefix("served-") == true }.compactMap { $0["advice"] }).sorted()
    }

    private func paste(_ command: String) throws -> Output {
        try place.shell("pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(Workplace.now); }; \(command)")
    }

    @Test(
        "an older set, a lost one, an emptied file and an empty folder are critical, and the advised command ends this",
        arguments: [
            "cp -p old/senders.json www/", "rm www/senders.json www/senders.jwks.json", ": >www/senders.json",
            "rm www/*", "rm -r www && cp -a old www", ": >www/senders.json; : >www/senders.jwks.json",
        ])
    func again(_ damage: String) throws {
        #expect(try status().exit == 0)
        _ = try place.shell(damage)
        let before = try status()
        #expect(before.exit == 2, "\(before)")
        // The nightly run doesn't run a program that has succeeded.
        try place.succeed("rotate", "Keys/senders", "--exec-on-change", "./publish")
        #expect(try status().exit == 2)
        let commands = try advice()
        #expect(!commands.isEmpty)
        let rotate = "pushcrypt rotate Keys/senders --exec-on-change ./publish --run-again"
        for command in commands {
            #expect(command.hasSuffix(rotate), "\(command)")
            let output = try paste(command)
            #expect(output.exit == 0 || commands.count > 1, "\(output)")
        }
        let after = try status()
        #expect(after.exit == 0, "\(after)")
    }

    @Test("a program that hasn't succeeded since the last change is run by the command without --run-again")
    func failed() throws {
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "3", at: Workplace.now)
        _ = try place.shell("cp -p old/senders.json www/")
        #expect(
            try advice() == [
                "pushcrypt rotate Keys/senders --exec-on-change ./publish  # its last output names the fault"
            ])
        #expect(try paste(advice()[0]).exit == 0)
        let after = try status()
        #expect(after.exit == 0, "\(after)")
    }

    @Test(
        "a program that publishes no keyset of recipients: the advice names keys publish, too, which ends the warning")
    func recipients() throws {
        try place.create("Keys/phones", "recipient")
        try place.write(Data("#!/bin/sh\nexit 0\n".utf8), to: "nothing", mode: 0o700)
        try place.succeed("rotate", "Keys/phones", "--exec-on-change", "./nothing", at: Workplace.now)
        let parts = try #require(try advice().first).components(separatedBy: "  # if the program doesn't publish it: ")
        #expect(
            parts == [
                "pushcrypt rotate Keys/phones --exec-on-change ./nothing --run-again",
                "pushcrypt keys publish Keys/phones --to www  # if nothing shall fetch them there: status --ignore served-absent",
            ])
        #expect(try paste(parts[0]).exit == 0)
        #expect(try advice().count == 1)
        #expect(try paste(parts.last ?? "").exit == 0)
        #expect(try advice().isEmpty)
    }
}
