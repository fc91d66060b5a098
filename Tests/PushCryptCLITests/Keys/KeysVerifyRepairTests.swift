import Foundation
import PushCryptCore
import Testing

@Suite("keys verify after an interrupted change", .ownThreads)
struct KeysVerifyRepairTests {
    @Test("keys verify finishes the log and the public set and reports it once", arguments: ["recipient", "shared"])
    func unfinished(_ kind: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", kind)
        try place.interruptedAdd("Keys/ios")
        let output = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.contains("mended     unfinished Keys/ios: wrote 1 missing line of the audit log"))
        #expect(output.text.contains("wrote public.jwks.json again from the keyset") == (kind == "recipient"))
        let again = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(again.isSuccess && !again.text.contains("mended"), "\(again)")
        #expect(again.text.contains("matches the keyset: 2 lines"))
    }

    @Test("keys verify discards unfinished files even if the log is broken")
    func leftovers() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        for name in ["keyset.json.new-AAAAAAAAAAAA", "public.jwks.json.new-B"] {
            try place.write(Data("{".utf8), to: "Keys/ios/\(name)")
        }
        try place.edit("Keys/ios/audit.jsonl") { $0.replacing("once", with: "last") }
        let output = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        #expect(output.text.contains("discarded keyset.json.new-AAAAAAAAAAAA"))
        #expect(output.text.contains("discarded public.jwks.json.new-B"))
        #expect(output.stderr == "pushcrypt: Keys/ios: 1 finding\n")
        #expect(try place.names(in: "Keys/ios") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
    }

    @Test("keys verify writes a missing public set")
    func missing() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let set = try place.read("Keys/ios/public.jwks.json")
        try place.remove("Keys/ios/public.jwks.json")
        #expect(try place.run("keys", "verify", "Keys/ios").isSuccess)
        #expect(try place.read("Keys/ios/public.jwks.json") == set)
        #expect(try place.mode(of: "Keys/ios/public.jwks.json") == 0o644)
    }

    @Test("keys verify writes the public set of encrypted keys only with the secret")
    func encrypted() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .recipient)
        try place.interruptedAdd("Keys/ios", "--passphrase-file", "passphrase")
        let without = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(without.exit == 65, "\(without)")
        #expect(without.text.contains("wrote 1 missing line of the audit log"))
        #expect(without.text.contains("bad        public     public.jwks.json is from an earlier change, seq 1"))
        let with = try place.run("keys", "verify", "Keys/ios", "--passphrase-file", "passphrase")
        #expect(with.isSuccess, "\(with)")
        #expect(with.text.contains("mended     unfinished Keys/ios: wrote public.jwks.json again"))
    }

    @Test(
        "keys verify in a read-only keyset reports the unfinished change and changes nothing",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func readOnly() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.interruptedAdd("Keys/ios")
        try place.giveAway()
        try place.setMode(0o500, of: "Keys/ios")
        let before = try place.contents(of: "Keys/ios")
        let output = try place.shell(
            "\(Unprivileged.prefix) \"$PUSHCRYPT\" keys verify Keys/ios --at \(Workplace.now)")
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: Keys/ios: 2 findings\n")
        #expect(output.text.contains("an interrupted change didn't write 1 line to the audit log"))
        #expect(try place.contents(of: "Keys/ios") == before)
    }
}
