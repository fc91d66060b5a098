import PushCryptTestSupport
import Testing

/// The sets of two epochs: apps in use fetch `senders`, apps with the update `senders-2`.
@Suite("the served sets of two epochs", .ownThreads)
struct ServedEpochTests {
    private let place: Workplace

    init() throws {
        let signed = try SignedSetPlace()
        place = signed.place
        try place.makeFolder("www", mode: 0o755)
        let published = try publish(day: 0)
        try #require(published.exit == 0, "\(published)")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-epoch", "2", "--yes", at: SignedSetPlace.day(1))
    }

    private func publish(day: Int, _ options: String...) throws -> Output {
        try place.run(
            [
                "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at",
                SignedSetPlace.day(day),
            ] + options)
    }

    private func findings(day: Int) throws -> [ServedFinding] { try place.servedFindings(day: day) }

    /// Runs the commands of an advice, which `&&` separates.
    private func follow(_ advice: String, day: Int) throws {
        for command in advice.split(separator: "  #")[0].split(separator: " && ") {
            guard command.hasPrefix("pushcrypt ") else {
                _ = try place.shell(String(command))
                continue
            }
            let words = command.split(separator: " ").dropFirst().map(String.init)
            let output = try place.run(words + ["--at", SignedSetPlace.day(day)])
            #expect(output.exit == 0, "\(command): \(output)")
        }
    }

    @Test(
        "a set in the place of another epoch's: nothing is published over it, and the advice restores the right one",
        arguments: [("senders-2", "senders"), ("senders", "senders-2")], [false, true])
    func misplaced(_ names: (from: String, to: String), isChanged: Bool) throws {
        #expect(try publish(day: 1, "--epoch", "1").exit == 0)
        #expect(try publish(day: 1, "--as", "senders-2").exit == 0)
        #expect(try findings(day: 1).isEmpty)
        let right = try place.read("www/\(names.to).json")
        _ = try place.shell("cp www/\(names.from).json www/\(names.to).json")
        if isChanged { try place.succeed("keys", "add", "Keys/senders", at: SignedSetPlace.day(2)) }
        let epoch = names.to == "senders" ? 1 : 2
        let found = try #require(try findings(day: 2).first { $0.code == "served-changed" })
        #expect(found.message.contains("the oldest copy, has epoch \(epoch): the apps"), "\(found)")
        let before = try place.contents(of: "www")
        for options in [["--epoch", "1"], []] {
            let refused = try place.run(
                [
                    "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--as",
                    names.to, "--at", SignedSetPlace.day(2),
                ] + options)
            expectRefusal(
                refused, 65, saying: "publish the set of epoch \(epoch) under this name, with --epoch \(epoch)")
        }
        #expect(try place.contents(of: "www") == before)
        try follow(found.advice, day: 2)
        if !isChanged { #expect(try place.read("www/\(names.to).json") == right) }
        #expect(try findings(day: 2).allSatisfy { $0.code != "served-changed" })
    }

    @Test("two names of different epochs that were exchanged with their newest copies: the advice restores both")
    func exchanged() throws {
        for day in [1, 2] {
            if day == 2 { try place.succeed("keys", "add", "Keys/senders", at: SignedSetPlace.day(2)) }
            #expect(try publish(day: day, "--epoch", "1").exit == 0)
            #expect(try publish(day: day, "--as", "senders-2").exit == 0)
        }
        let right = try place.contents(of: "www")
        _ = try place.shell(
            "cd www; for end in json 4.json; do mv senders.$end t; mv senders-2.$end senders.$end; mv t senders-2.$end; done"
        )
        let found = try findings(day: 2)
        #expect(found.map(\.code) == ["served-changed", "served-changed"], "\(found)")
        #expect(
            found.contains {
                $0.message.hasPrefix("www/senders.4.json, www/senders.json have epoch 2, and www/senders.2.json")
            })
        #expect(found.contains { $0.message.hasPrefix("www/senders-2.4.json, www/senders-2.json have epoch 1, and ") })
        expectRefusal(
            try publish(day: 2), 65, saying: "publish the set of epoch 1 under this name, with --epoch 1")
        for finding in found { try follow(finding.advice, day: 2) }
        #expect(try findings(day: 2).isEmpty)
        _ = try place.shell("rm www/*.old")
        #expect(try place.contents(of: "www") == right)
    }

    @Test(
        "two names exchanged with their only common copy: when the first is right again, status names the second at once"
    )
    func exchangedAtOnce() throws {
        #expect(try publish(day: 1, "--epoch", "1").exit == 0)
        #expect(try publish(day: 1, "--as", "senders-2").exit == 0)
        _ = try place.shell(
            "cd www; for end in json 3.json; do mv senders.$end t; mv senders-2.$end senders.$end; mv t senders-2.$end; done"
        )
        let first = try #require(try findings(day: 1).first { $0.code == "served-changed" })
        try follow(first.advice, day: 1)
        let found = try findings(day: 1)
        #expect(found.map(\.code) == ["served-epoch"], "\(found)")
        #expect(found[0].message.hasSuffix("www/senders-2.json, www/senders.json have epoch 1"), "\(found)")
        #expect(found[0].advice.hasPrefix("if one of these has the name that apps with epoch 2 fetch, first move it"))
        _ = try place.shell("cd www; for file in senders-2*.json; do mv $file $file.old; done")
        #expect(try publish(day: 1, "--as", "senders-2").exit == 0)
        #expect(try findings(day: 1).isEmpty)
    }

    @Test("the advice for a set without its numbered copy names the epoch of the apps that must fetch it")
    func lostCopies() throws {
        #expect(try publish(day: 1, "--epoch", "1").exit == 0)
        #expect(try publish(day: 1, "--as", "senders-2").exit == 0)
        _ = try place.shell("rm www/*.[0-9].json")
        let advice = try findings(day: 1).filter { $0.code == "served-copy" }.map(\.advice)
        #expect(advice.count == 2)
        for epoch in [1, 2] {
            #expect(
                advice.contains { $0.hasSuffix("  # if the apps that fetch this file pin epoch \(epoch)") }, "\(advice)"
            )
        }
    }

    @Test("a name whose numbered copies have an earlier epoch gets no set of a later one, also if the set is gone")
    func lost() throws {
        #expect(try publish(day: 1, "--epoch", "1").exit == 0)
        _ = try place.shell("rm www/senders.json")
        expectRefusal(
            try publish(day: 1), 65, saying: "move the set of this name and its numbered copies out of the folder")
        #expect(try publish(day: 1, "--epoch", "1").exit == 0)
        _ = try place.shell("rm www/senders*")
        #expect(try publish(day: 1).exit == 0)
    }

    @Test(
        "status warns a day later if no set has the keyset's epoch, and at once if two names have the same epoch",
        arguments: [["--epoch", "1"], ["--epoch", "1", "--as", "senders-2"]])
    func unpublished(_ options: [String]) throws {
        #expect(try publish(day: 1, "--epoch", "1").exit == 0)
        let output = try place.run(
            [
                "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at",
                SignedSetPlace.day(1),
            ] + options)
        #expect(output.exit == 0, "\(output)")
        #expect(try findings(day: 1).count == (options.contains("--as") ? 1 : 0))
        let found = try findings(day: 3)
        #expect(found.map(\.code) == ["served-epoch"], "\(found)")
        #expect(found[0].message.hasPrefix("www has no set of epoch 2, which the keyset has"), "\(found)")
        #expect(found[0].advice.contains("--signed-by Keys/publisher --as NAME  # "), "\(found)")
        #expect(try publish(day: 3, "--as", "senders-3").exit == 0)
        #expect(try findings(day: 3).isEmpty)
    }
}
