import Foundation
import PushCryptTestSupport
import Testing

/// The attacker writes a file or a line that the tool reads: a keyset, a key file, a directory of recipients, a line of a
/// batch. The tool refuses it, exits 65 with one line on stderr, and shows no part of the keys. `SealInputTests` and
/// `OpenFailureTests` have hostile text on stdin.
@Suite("Attacks with hostile files", .ownThreads) struct HostileFileAttackTests {
    private static func jwk(_ name: String) throws -> [UInt8] { Array(try BatchPlace.registration(name).utf8) }

    @Test(
        "a hostile text as the key file of seal, open or --trust: exit 65, nothing on stdout",
        arguments: HostileText.allCases)
    func keyFile(hostile: HostileText) throws {
        let place = try Workplace()
        try place.write(Data(hostile.text(from: Self.jwk("shared"))), to: "bad.json")
        try place.write(Data(hostile.text(from: Self.jwk("sender"))), to: "senders.json")
        try place.write(Data(Self.jwk("shared")), to: "good.json")
        expectRefusal(try place.seal(to: "bad.json"), 65, saying: "bad.json: ")
        let sealed = try place.sealed(to: "good.json")
        expectRefusal(try place.open(keys: "bad.json", payload: sealed), 65, saying: "bad.json: ")
        expectRefusal(
            try place.open(keys: "good.json", "--trust", "senders.json", payload: sealed), 65, saying: "senders.json: ")
    }

    @Test(
        "a hostile text as the last row of a keyset: list, rotate and seal exit 65 and the file stays as it is",
        arguments: HostileText.allCases)
    func keyset(hostile: HostileText) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        // The log stays as it is: its lines are chained by hashes, and the digest is that of the log and the keys.
        let rows = try place.read("Keys/ios.keyset").split(separator: UInt8(ascii: "\n"))
        let last = hostile.text(from: Array(rows[1]))
        let bad = rows[0] + Data("\n".utf8) + Data(last) + Data("\n".utf8)
        try place.write(bad, to: "Keys/ios.keyset")
        for command in [["keys", "list", "Keys/ios"], ["rotate", "Keys/ios"]] {
            let output = try place.run(command + ["--at", Workplace.now])
            expectRefusal(output, 65)
            #expect(!output.stderr.contains("\"d\""))
        }
        expectRefusal(try place.seal(to: "Keys/ios"), 65)
        #expect(try place.read("Keys/ios.keyset") == bad)
    }

    @Test("a hostile text as a record of a directory: recipients import exits 65 and writes no directory")
    func directory() throws {
        for hostile in HostileText.allCases {
            let place = try Workplace()
            let lines = try [Self.jwk("p256"), hostile.text(from: Self.jwk("x25519")), Self.jwk("x25519 psk")]
            try place.write(Data(lines.joined(separator: Array("\n".utf8))), to: "lines")
            let output = try place.run("recipients", "import", "lines", "--into", "d")
            expectRefusal(output, 65, saying: "line 2")
            #expect(!place.has("d"), "\(hostile)")
        }
    }

    @Test(
        "hostile lines in a batch: exit 65, each is malformedLine or, with 10 MB, lineTooLong, and the others are processed",
        arguments: ["seal", "open"])
    func batch(command: String) throws {
        let batch = try BatchPlace()
        let line = #"{"payload":{"aps":{"alert":"x"}},"device":"d"}"#
        let good = try command == "seal" ? Array(line.utf8) : Array(batch.seal([line], "--to", "fleet.json").line.utf8)
        let bad = HostileText.allCases.map { $0.text(from: good) } + [HostileText.withLongNumber(good)]
        let input = (bad.flatMap { [$0, good] } + [good]).joined(separator: Array("\n".utf8))
        let arguments = command == "seal" ? BatchPlace.seal + ["--to"] : BatchPlace.open + ["--keys"]
        let output = try batch.place.run(arguments + ["fleet.json", "--errors", "errors.jsonl"], stdin: Data(input))
        #expect(output.exit == 65, "\(output)")
        let refused = try batch.place.refusedLines()
        #expect(refused.map(\.line) == bad.indices.map { 2 * $0 + 1 })
        #expect(refused.map(\.reason) == bad.dropLast().map { _ in "malformedLine" } + ["lineTooLong"])
        #expect(output.text.split(separator: "\n").count == bad.count + 1)
    }
}
