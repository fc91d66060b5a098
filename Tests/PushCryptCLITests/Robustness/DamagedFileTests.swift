import Foundation
import PushCryptTestSupport
import Testing

/// A sample of what the tool does: the library's tests try every byte.
@Suite("a damaged keyset", .ownThreads)
struct DamagedFileTests {
    @Test("a keyset that was cut off is refused by every command, which changes nothing", arguments: [false, true])
    func truncated(_ isEncrypted: Bool) throws {
        let place = try DamagedPlace(isEncrypted)
        let counts = Array(stride(from: 0, to: place.whole.count, by: LongTests.value(97, short: 401)))
        for count in counts + [place.whole.count - 1] {
            try place.expectRefused(place.whole.prefix(count), "cut at \(count)", turn: count)
        }
    }
}

/// A keyset of two keys.
private struct DamagedPlace {
    let place: Workplace
    let whole: Data
    private let secret: [String]
    private let commands: [[String]]

    private static let file = "Keys/ios.keyset"

    init(_ isEncrypted: Bool) throws {
        place = try Workplace()
        // A passphrase costs half a second each time, a command next to nothing.
        try place.writeWrapCommand("wrap")
        secret = isEncrypted ? ["--wrap-command", "./wrap"] : []
        let protection = isEncrypted ? secret : ["--insecure-plaintext"]
        let create = ["keys", "create", "Keys/ios", "--kind", "recipient"] + protection
        for command in [create, ["rotate", "Keys/ios", "--now"] + secret] {
            let output = try place.run(command + ["--at", Workplace.now])
            try #require(output.exit == 0, "\(output)")
        }
        whole = try place.read(Self.file)
        let topic = ["--topic", Workplace.topic]
        commands = [
            ["open", "--keys", "Keys/ios"] + topic, ["keys", "export", "Keys/ios"], ["rotate", "Keys/ios"],
            ["seal", "--to", "Keys/ios"] + topic, ["keys", "policy", "Keys/ios", "--keep", "9"],
            ["keys", "export", "Keys/ios", "--private", "--insecure-plaintext"], ["rotate", "Keys/ios", "--now"],
        ]
    }

    /// A command that uses the secret exits 65, changes nothing and shows nothing. One that only lists reads what isn't
    /// authenticated, but never crashes.
    func expectRefused(_ bytes: Data, _ damage: String, turn: Int) throws {
        try place.write(bytes, to: Self.file)
        let command = commands[turn % commands.count]
        let output = try place.run(command + secret + ["--at", Workplace.now], stdin: Workplace.inner)
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(damage), \(command): \(output)")
        let list = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(list.exit == 65 || list.exit == 0 && !secret.isEmpty, "\(damage): \(list)")
        #expect(try place.contents(of: "Keys") == ["ios.keyset": bytes], "\(damage)")
    }
}
