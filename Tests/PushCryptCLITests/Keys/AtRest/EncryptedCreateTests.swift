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
        let text = String(decoding: try encrypted.place.read("Keys/ios.keyset"), as: UTF8.self)
        #expect(text.contains("\"n\":131072") == !source.isCommand)
        #expect(!text.contains("\"d\"") && !text.contains(EncryptedPlace.passphrase) && !text.contains("sh kms"))
        #expect(text.contains("\"secrets\":[\"\(source.isCommand ? "command" : "passphrase")\"]"))
        let exported = try encrypted.run("keys export Keys/ios", source)
        #expect(exported.isSuccess && exported.text.contains(created.line), "\(exported)")
    }

    @Test("keys create without a secret and a terminal exits 64 and names the options")
    func noSecret() throws {
        let place = try Workplace()
        let output = try place.run("keys", "create", "Keys/ios", "--kind", "sender")
        expectRefusal(output, 64, saying: "--passphrase-file or --wrap-command")
        #expect(output.stderr.contains("--insecure-plaintext"))
        #expect(try place.names().isEmpty)
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
}
