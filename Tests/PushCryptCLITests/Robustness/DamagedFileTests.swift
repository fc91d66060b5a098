import Foundation
import PushCryptTestSupport
import Testing

/// The tool's reaction to a file that lost its end or has a flipped bit. This is a sample: the library's tests try every
/// byte.
@Suite("a damaged file of a keyset", .ownThreads)
struct DamagedFileTests {
    static let kinds = ["plain", "encrypted"]

    @Test("a keyset's file that was cut off is refused or read unchanged", arguments: kinds)
    func truncated(_ kind: String) throws {
        let place = try DamagedPlace(kind)
        for count in stride(from: 0, to: place.whole.count, by: LongTests.areEnabled ? 97 : 401) {
            try place.expectRefusedOrTheSame(place.whole.prefix(count), "cut at \(count)", turn: count)
        }
        try place.expectRefusedOrTheSame(place.whole.dropLast(), "without its last newline", turn: 0)
    }

    @Test("a keyset's file with a flipped bit is refused or read unchanged", arguments: kinds)
    func flipped(_ kind: String) throws {
        let place = try DamagedPlace(kind)
        var random = SplitMix64(seed: 9)
        for turn in 0..<(LongTests.areEnabled ? 40 : 5) {
            let (index, bit) = (
                Int.random(in: place.whole.indices, using: &random), Int.random(in: 0...7, using: &random)
            )
            var bytes = place.whole
            bytes[index] ^= 1 << bit
            try place.expectRefusedOrTheSame(bytes, "bit \(bit) of byte \(index)", turn: turn)
        }
    }

    @Test("verify and changes refuse a damaged log, and reading commands work")
    func log() throws {
        let place = try DamagedPlace("plain")
        let whole = try place.place.read("Keys/ios/audit.jsonl")
        var random = SplitMix64(seed: 10)
        for _ in 0..<(LongTests.areEnabled ? 5 : 2) {
            let index = Int.random(in: whole.indices, using: &random)
            var bytes = whole
            bytes[index] ^= 1 << Int.random(in: 0...7, using: &random)
            try place.place.write(bytes, to: "Keys/ios/audit.jsonl")
            let before = try place.place.contents(of: "Keys")
            for command in [["keys", "add"], ["keys", "verify"], ["keys", "log", "--verify"]] {
                let output = try place.run(command + ["Keys/ios", "--at", Workplace.now])
                #expect(output.exit == 65, "byte \(index): \(output)")
            }
            #expect(try place.run(["keys", "log", "Keys/ios"]).exit == 0)
            #expect(try place.run(["keys", "list", "Keys/ios"]).exit == 0)
            #expect(try place.place.contents(of: "Keys") == before)
        }
    }
}

/// A keyset of two keys, and the output of commands for the intact keyset.
private struct DamagedPlace {
    let place: Workplace
    let whole: Data
    private let secret: [String]
    private let listed: String
    private let push: Data

    private static let path = "Keys/ios"
    private static let file = "Keys/ios/keyset.json"

    init(_ kind: String) throws {
        place = try Workplace()
        // A passphrase costs half a second each time, a command next to nothing.
        try place.writeWrapCommand("wrap")
        secret = kind == "encrypted" ? ["--wrap-command", "sh ./wrap"] : []
        let protection = secret.isEmpty ? ["--insecure-plaintext"] : secret
        for command in [["create", Self.path, "--kind", "recipient"] + protection, ["add", Self.path] + secret] {
            let output = try place.run(["keys"] + command + ["--at", Workplace.now])
            try #require(output.isSuccess, "\(output)")
        }
        whole = try place.read(Self.file)
        listed = try place.run("keys", "list", Self.path, "--at", Workplace.now).text
        push = try place.run(
            ["seal", "--bare", "--to", Self.path, "--topic", Workplace.topic, "--at", Workplace.now] + secret,
            stdin: Workplace.inner
        ).payload
    }

    func run(_ arguments: [String]) throws -> Output { try place.run(arguments) }

    /// Every command exits 65 or reads the file unchanged; none crashes or changes anything. Commands that only read the
    /// file are tried in turn.
    func expectRefusedOrTheSame(_ bytes: Data, _ damage: String, turn: Int) throws {
        try place.write(bytes, to: Self.file)
        let before = try place.contents(of: "Keys")
        let topic = ["--topic", Workplace.topic]
        let others = [
            ["keys", "verify", Self.path] + secret, ["keys", "log", Self.path], ["keys", "doctor", Self.path],
            ["keys", "export", Self.path] + secret, ["seal", "--bare", "--to", Self.path] + topic + secret,
        ]
        let list = try run(["keys", "list", Self.path], damage)
        let opened = try run(["open", "--keys", Self.path] + topic + secret, stdin: push, damage)
        _ = try run(others[turn % others.count], stdin: Workplace.inner, damage)
        #expect(list.exit == 65 || list.text == listed, "\(damage): \(list)")
        #expect(opened.exit == 65 || opened.payload == Workplace.inner, "\(damage): \(opened)")
        if list.exit == 65 {
            let change = try run(["keys", "policy", Self.path, "--keep", "9"] + secret, damage)
            #expect(change.exit == 65, "\(damage): \(change)")
        }
        #expect(try place.contents(of: "Keys") == before, "\(damage)")
    }

    private func run(_ arguments: [String], stdin: Data = Data(), _ damage: String) throws -> Output {
        let output = try place.run(arguments + ["--at", Workplace.now], stdin: stdin)
        #expect(output.exit == 0 || output.exit == 65, "\(damage), \(arguments): \(output)")
        return output
    }
}
