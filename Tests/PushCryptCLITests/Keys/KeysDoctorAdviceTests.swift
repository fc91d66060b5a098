import Foundation
import PushCryptCore
import Testing

@Suite("the advice of keys doctor", .ownThreads)
struct KeysDoctorAdviceTests {
    static let cases = DoctorCase.all.filter { test in
        ["audit-broken", "loose-mode", "public-missing", "public-differs", "no-publish-lead", "rotation-overdue"]
            .contains(test.code)
            || test.code == "unfinished" && test.advice == DoctorCase.verify
    }

    @Test("the printed command corrects the finding, even in a folder with special characters", arguments: cases)
    func advice(_ test: DoctorCase) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try test.damage(place)
        let name = "it's $HOME"
        try place.move("Keys", to: name)
        try place.settle(name)
        let (before, commands) = try findings(place, name, test)
        #expect(before.contains(test.code))
        let script = try #require(commands.first).replacing("--reason WHY", with: "--reason 'a test'")
        let repaired = try place.shell("pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(test.time); }; \(script)")
        #expect(repaired.exit == 0, "\(repaired)")
        try place.settle(name)
        #expect(!(try findings(place, name, test).codes.contains(test.code)))
    }

    @Test("the advice for a signed set that has expired, or soon will, can be pasted and has the command to publish")
    func expiredSet() throws {
        for (day, code) in [(50, "set-expiring"), (70, "set-expired")] {
            let place = try SignedSetPlace(secrets: (publisher: "p", sender: "s")).place
            let time = SignedSetPlace.day(day)
            let options = ["--at", time, "--json", "--passphrase-file", "sender.pass"]
            let doctor = try place.run(["keys", "doctor", "Keys/senders"] + options)
            let list = try JSONSerialization.jsonObject(with: doctor.stdout) as? [[String: String]]
            let advice = try #require(list?.first { $0["code"] == code }?["advice"], "\(doctor)")
            #expect(
                advice.hasSuffix(
                    "  # then publish the set: pushcrypt keys publish Keys/senders --to FOLDER --signed-by Publisher/NAME "
                        + "--passphrase-file sender.pass --publisher-passphrase-file FILE"), "\(advice)")
            let pasted = try place.shell(
                "pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(time) </dev/null; }; \(advice)")
            #expect(pasted.exit == 0 && pasted.text.contains("issue the signed set again"), "\(pasted)")
        }
    }

    static let faults = [
        "rm Keys/ios/public.jwks.json", "touch Keys/ios/keyset.json.new-AAAAAAAAAAAA", "rm Keys/ios/keyset.json",
        "echo { > Keys/ios/keyset.json", "sed -i 's/\"seq\": 1/\"seq\": 7/' Keys/ios/public.jwks.json",
        "sed -i 's/\"seq\": 1/\"seq\": 7/' Keys/ios/keyset.json", "sed -i 's/}/ }/' Keys/ios/public.jwks.json",
        "sed -i s/created/added/ Keys/ios/audit.jsonl", "echo '{' > Keys/ios/hook.json",
        "\"$PUSHCRYPT\" keys add Keys/ios --at \(Workplace.now) --passphrase-file passphrase; "
            + "sed -i '$d' Keys/ios/audit.jsonl",
    ]

    @Test(
        "each advised command for an encrypted keyset repeats the given secret, in status, keys doctor and keys verify",
        arguments: faults, ["status", "keys doctor", "keys verify"])
    func secret(_ fault: String, _ command: String) throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .recipient)
        #expect(try place.shell(fault).isSuccess)
        try place.settle("Keys")
        let output = try place.run(
            command.split(separator: " ").map(String.init)
                + ["Keys/ios", "--at", Workplace.now, "--passphrase-file", "passphrase"])
        let advised = output.text.split(separator: "\n").filter { $0.contains("pushcrypt keys ") }
        #expect(advised.allSatisfy { $0.contains(" --passphrase-file passphrase") }, "\(output)")
        #expect(command == "keys verify" || !advised.isEmpty, "\(output)")
    }

    @Test("touching the files from the future, as advised, ends the warning")
    func touched() throws {
        let place = try Workplace()
        try place.write(Data("correct horse".utf8), to: "passphrase")
        for name in ["a b", "c"] {
            let output = try place.run(
                "keys", "create", "Keys/\(name)", "--kind", "shared", "--passphrase-file", "passphrase")
            try #require(output.isSuccess, "\(output)")
        }
        _ = try place.shell("find Keys -mindepth 1 -exec touch -d '2 days' {} +")
        let found = try place.run("keys", "doctor", "Keys")
        let warnings = found.text.split(separator: "\n").filter { $0.hasPrefix("warning") }
        let words = "3 files were written in the future"
        #expect(warnings.count == 2 && warnings.allSatisfy { $0.contains(words) }, "\(found)")
        let commands = found.text.split(separator: "\n").filter { $0.hasPrefix("         touch ") }
        #expect(try place.shell(commands.joined(separator: "\n")).isSuccess)
        #expect(try place.run("keys", "doctor", "Keys").text == "2 keysets: nothing found\n")
    }

    @Test("if the clock seems far ahead, each advised command confirms it, and is to be run if it is right")
    func clock() throws {
        let place = try SignedSetPlace().place
        let output = try place.run("status", "Keys/senders", "--at", SignedSetPlace.day(800))
        let advice =
            "\n         pushcrypt rotate Keys/senders --confirm-clock  # if `date -u` prints the right time; otherwise set the clock"
        #expect(output.text.contains(advice), "\(output)")
        #expect(!output.text.contains("rotate Keys/senders  #"), "\(output)")
    }

    private func findings(
        _ place: Workplace, _ path: String, _ test: DoctorCase
    ) throws -> (codes: [String], commands: [String]) {
        let output = try place.run("keys", "doctor", path, "--json", "--at", test.time)
        let list = try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]]
        let found = try #require(list, "\(output)")
        return (
            found.compactMap { $0["code"] }, found.filter { $0["code"] == test.code }.compactMap { $0["advice"] }
        )
    }
}
