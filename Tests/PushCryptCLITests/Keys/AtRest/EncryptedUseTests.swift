import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("an encrypted keyset", .ownThreads)
struct EncryptedUseTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }

    init() throws {
        encrypted = try EncryptedPlace()
    }

    private static let at = "--at \(Workplace.now)"
    private static let here = "--topic \(Workplace.topic) \(at)"

    @Test("an encrypted keyset is listed without its secret")
    func list() throws {
        let kid = try encrypted.create("Keys/ios", .recipient, psk: true)
        let output = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess && output.text.contains(kid) && output.text.contains("primary"), "\(output)")
        let plan = try place.run("rotate", "Keys/ios", "--dry-run", "--at", Workplace.now)
        #expect(plan.exit == 0, "\(plan)")
    }

    /// One secret unlocks two keysets, also from a descriptor that can be read only once.
    @Test(
        "an encrypted keyset seals, signs, opens and exports with its secret", arguments: EncryptedPlace.Source.allCases
    )
    func use(_ source: EncryptedPlace.Source) throws {
        try encrypted.create("Keys/ios", .recipient, psk: true, isCommand: source.isCommand)
        try encrypted.create("Keys/push", .sender, isCommand: source.isCommand)
        let sealed = try encrypted.run(
            "seal --to Keys/ios --sign-with Keys/push \(Self.here)", source, stdin: Workplace.inner)
        try #require(sealed.isSuccess, "\(sealed)")
        let opened = try encrypted.run(
            "open --keys Keys/ios --trust Keys/push \(Self.here)", source, stdin: sealed.stdout)
        #expect(opened.isSuccess && opened.text.contains("All clear."), "\(opened)")
        let inspected = try encrypted.run(
            "inspect --keys Keys/ios --trust Keys/push \(Self.here)", source, stdin: sealed.stdout)
        #expect(inspected.isSuccess, "\(inspected)")
        let record = try encrypted.run("keys export Keys/ios --registration \(Self.at)", source)
        #expect(record.isSuccess && record.text.contains("\"psk\"") && !record.text.contains("\"d\""), "\(record)")
    }

    @Test("a change with the secret keeps the protection of the keyset", arguments: EncryptedPlace.Source.allCases)
    func changes(_ source: EncryptedPlace.Source) throws {
        let kid = try encrypted.create("Keys/ios", .shared, isCommand: source.isCommand)
        let before = try place.read("Keys/ios/keyset.json")
        let rotated = try encrypted.run("rotate Keys/ios --now \(Self.at)", source)
        #expect(rotated.exit == 0, "\(rotated)")
        #expect(try place.read("Keys/ios/keyset.json") != before)
        let listed = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(listed.text.contains(kid) && listed.text.contains("pending"), "\(listed)")
        #expect(try !encrypted.isInClear("Keys/ios"))
        #expect(try encrypted.cost("Keys/ios") == (source.isCommand ? nil : 1_024))
        let device = try encrypted.run("keys export Keys/ios --device one \(Self.at)", source)
        #expect(try Payload.member("keys", of: device.stdout) as? [Any] != nil, "\(device)")
        let again = try encrypted.run("keys policy Keys/ios --keep 3 \(Self.at)", source)
        #expect(again.exit == 0, "\(again)")
    }

    static let commands = [
        "seal --to Keys/ios \(here)", "seal --to Keys/ios --sign-with Keys/push \(here)",
        "open --keys Keys/ios \(here)",
        "keys export Keys/ios", "keys export Keys/push", "keys add Keys/ios --force \(at)",
        "keys policy Keys/ios --keep 3 \(at)", "rotate Keys/ios --now \(at)",
        "keys passwd Keys/ios --new-wrap-command 'sh kms' \(at)",
    ]

    @Test("commands without the right secret are refused and change nothing", arguments: commands)
    func refusals(_ command: String) throws {
        try encrypted.create("Keys/ios", .recipient)
        try encrypted.create("Keys/push", .sender)
        let before = try encrypted.everything(in: "Keys")
        func expect(_ status: Int32, _ words: String, _ script: String) throws {
            let output = try place.shell(script, stdin: Workplace.inner)
            expectRefusal(output, status, saying: words)
            #expect(!output.stderr.contains(EncryptedPlace.otherPassphrase))
        }
        try expect(64, "is encrypted: use --passphrase-file", "\"$PUSHCRYPT\" \(command)")
        try expect(77, "the passphrase is wrong", "\"$PUSHCRYPT\" \(command) --passphrase-file other")
        try expect(77, "the passphrase is wrong", "PUSHCRYPT_PASSPHRASE='other horse' \"$PUSHCRYPT\" \(command)")
        try expect(64, "need a passphrase, not a command", "\"$PUSHCRYPT\" \(command) --wrap-command 'sh kms'")
        #expect(try encrypted.everything(in: "Keys") == before)
    }

    @Test("an edited encrypted keyset is refused as changed")
    func edited() throws {
        try encrypted.create("Keys/ios", .recipient)
        let text = try place.readForEditing("Keys/ios/keyset.json")
        try place.write(Payload.replacing("\"seq\": 1", with: "\"seq\": 2", in: text), to: "Keys/ios/keyset.json")
        expectRefusal(try encrypted.run("keys export Keys/ios"), 65, saying: "the file is damaged or was changed")
        expectRefusal(
            try encrypted.run("keys policy Keys/ios --keep 3 \(Self.at)"), 65, saying: "damaged or was changed")
    }

    @Test("scrypt parameters that need too much work are refused at once")
    func work() throws {
        try encrypted.create("Keys/ios", .sender)
        let text = try place.readForEditing("Keys/ios/keyset.json")
        try place.write(
            Payload.replacing("\"n\": 1024", with: "\"n\": 1073741824", in: text), to: "Keys/ios/keyset.json")
        expectRefusal(
            try place.run("keys", "list", "Keys/ios"), 65,
            saying: "Keys/ios/keyset.json: sealed.passphrase: scrypt's N")
    }

    /// An old copy of the file can be unlocked. Only the newer audit log reveals it.
    @Test("an encrypted keyset that was rolled back can be neither used nor changed")
    func rollback() throws {
        try encrypted.create("Keys/ios", .sender)
        let old = try place.read("Keys/ios/keyset.json")
        let changed = try encrypted.run("keys policy Keys/ios --keep 3 \(Self.at)")
        try #require(changed.exit == 0, "\(changed)")
        try place.write(old, to: "Keys/ios/keyset.json")
        for command in ["keys export Keys/ios", "keys policy Keys/ios --keep 4 \(Self.at)"] {
            let output = try encrypted.run(command)
            expectRefusal(output, 75, saying: "the keyset is an earlier copy, as after a restored backup")
        }
        #expect(try place.read("Keys/ios/keyset.json") == old)
    }
}
