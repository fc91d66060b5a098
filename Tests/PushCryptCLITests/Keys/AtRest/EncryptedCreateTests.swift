import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys create, encrypted", .ownThreads)
struct EncryptedCreateTests {
    @Test(
        "keys create accepts a secret from every source, and the secret unlocks the keyset",
        arguments: EncryptedPlace.Source.allCases)
    func sources(_ source: EncryptedPlace.Source) throws {
        let encrypted = try EncryptedPlace()
        let created = try encrypted.run("keys create Keys/ios --kind recipient --psk", source)
        #expect(created.isSuccess, "\(created)")
        #expect(created.text.wholeMatch(of: /[A-Za-z0-9_-]{11}\n/) != nil)
        #expect(try !encrypted.isInClear("Keys/ios"))
        #expect(try encrypted.cost("Keys/ios") == (source.isCommand ? nil : 131_072))
        let text = String(decoding: try encrypted.place.read("Keys/ios/keyset.json"), as: UTF8.self)
        #expect(!text.contains("\"d\"") && !text.contains(EncryptedPlace.passphrase) && !text.contains("sh kms"))
        #expect(text.contains("\"suite\": \"p256\", \"psk\": true"))
        #expect(try encrypted.place.mode(of: "Keys/ios/keyset.json") == 0o600)
        let exported = try encrypted.run("keys export Keys/ios", source)
        #expect(exported.isSuccess && exported.text.contains(created.line), "\(exported)")
        #expect(try exported.stdout == encrypted.place.read("Keys/ios/public.jwks.json"))
    }

    @Test("keys create without a secret and a terminal exits 64 and names the options")
    func noSecret() throws {
        let place = try Workplace()
        let output = try place.run("keys", "create", "Keys/ios", "--kind", "sender")
        expectRefusal(output, 64, saying: "--passphrase-file, --passphrase-fd or --wrap-command")
        #expect(output.stderr.contains("--insecure-plaintext"))
        #expect(try place.names().isEmpty)
    }

    static let twoSecrets = [
        "--passphrase-file pass --wrap-command 'sh kms'", "--passphrase-file pass --passphrase-fd 7",
        "--passphrase-fd 7 --wrap-command 'sh kms'", "--passphrase-file pass --insecure-plaintext",
        "--wrap-command 'sh kms' --insecure-plaintext", "--passphrase-fd 7 --insecure-plaintext",
    ]

    @Test("keys create refuses contradictory secrets in its options", arguments: twoSecrets)
    func contradictions(_ options: String) throws {
        let encrypted = try EncryptedPlace()
        let output = try encrypted.runWithoutSecret("keys create Keys/ios --kind sender \(options) 7<pass")
        expectUsageError(output)
        #expect(try encrypted.place.names() == ["kms", "other", "pass"])
    }

    @Test(
        "keys create refuses contradictory, unused and empty secrets in the environment",
        arguments: [
            ("PUSHCRYPT_PASSPHRASE=x PUSHCRYPT_WRAP_COMMAND=true", "", "both set"),
            ("PUSHCRYPT_PASSPHRASE=x", "--insecure-plaintext", "unused"),
            ("PUSHCRYPT_WRAP_COMMAND=true", "--insecure-plaintext", "unused"), ("PUSHCRYPT_PASSPHRASE=", "", "empty"),
        ])
    func environment(_ variables: String, _ options: String, _ words: String) throws {
        let place = try Workplace()
        let output = try place.shell("\(variables) \"$PUSHCRYPT\" keys create Keys/ios --kind sender \(options)")
        expectRefusal(output, 64, saying: words)
        #expect(try place.names().isEmpty)
    }

    /// All users of the machine can read the arguments of a process.
    @Test(
        "keys create has no option that accepts a passphrase itself",
        arguments: [
            "--passphrase secret", "--passphrase=secret", "--pass secret", "-p secret", "--password secret",
            "--new-passphrase secret",
        ])
    func arguments(_ option: String) throws {
        let encrypted = try EncryptedPlace()
        expectUsageError(try encrypted.runWithoutSecret("keys create Keys/ios --kind sender \(option)"))
        expectUsageError(try encrypted.runWithoutSecret("keys passwd Keys/ios \(option)"))
        #expect(try encrypted.place.names() == ["kms", "other", "pass"])
    }

    @Test(
        "keys create refuses a passphrase file that is missing, empty, too long, not a file or readable by others",
        arguments: [
            ("chmod 644 pass", 77, "chmod 600 pass"), ("chmod 604 pass", 77, "chmod 600 pass"),
            (": >pass", 64, "empty"), ("echo >pass", 64, "empty"), ("rm pass", 66, "pass"),
            ("rm pass; mkdir pass", 65, "not a file"), ("rm pass; mkfifo -m 600 pass", 65, "not a file"),
            ("head -c 1025 /dev/zero >pass", 64, "1024"),
        ])
    func files(_ preparation: String, _ status: Int, _ words: String) throws {
        let encrypted = try EncryptedPlace()
        try #require(try encrypted.place.shell(preparation).isSuccess)
        expectRefusal(try encrypted.run("keys create Keys/ios --kind sender"), Int32(status), saying: words)
        #expect(!FileManager.default.fileExists(atPath: encrypted.place.folder.file("Keys").path))
    }

    @Test("keys create refuses a passphrase descriptor that isn't open", arguments: ["7", "-1", "1000000", "7>out"])
    func descriptors(_ descriptor: String) throws {
        let place = try Workplace()
        let output = try place.shell("\"$PUSHCRYPT\" keys create Keys/ios --kind sender --passphrase-fd=\(descriptor)")
        #expect([64, 74].contains(output.exit), "\(output)")
        #expect(try !place.names().contains("Keys"))
    }
}
