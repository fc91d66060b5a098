import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// A passphrase that nobody can type loses the keys in an emergency.
@Suite("new passphrases", .ownThreads)
struct NewPassphraseTests {
    static let flaws: [(bytes: Data, words: String)] = [
        (Data([0xEF, 0xBB, 0xBF]) + Data("correct horse\n".utf8), "is UTF-8 with a byte order mark"),
        (Data("correct horse".utf16.flatMap { [UInt8($0), 0] }), "is UTF-16: save it as UTF-8"),
        (Data("correct\0horse\n".utf8), "contains a NUL or another control character"),
        (Data("correct horse\nand another\n".utf8), "has a second line"),
        (Data("äöüäöüä\n".utf8), "has fewer than 8 characters"),
    ]

    @Test("keys create refuses a passphrase that nobody can type, and makes nothing", arguments: flaws)
    func create(_ bytes: Data, _ words: String) throws {
        let place = try Workplace()
        try place.write(bytes, to: "bad")
        let output = try place.run("keys", "create", "Keys/ios", "--kind", "sender", "--passphrase-file", "bad")
        expectRefusal(output, 64, saying: "the new passphrase " + words)
        #expect(try place.names() == ["bad"])
    }

    @Test(
        "every command that encrypts something new refuses a short passphrase",
        arguments: [
            "keys secret set Keys/ios --passphrase-file pass --new-passphrase-file bad",
            "keys secret add Keys/ios --name safe --passphrase-file pass --new-passphrase-file bad",
            "keys export Keys/ios --private --format pem --passphrase-file pass --new-passphrase-file bad",
            "keys import Keys/new key --kind shared --passphrase-file bad",
        ])
    func commands(_ command: String) throws {
        let encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .sender)
        try encrypted.place.write(Data(repeating: 7, count: 32).base64EncodedData(), to: "key")
        try encrypted.place.write(Data("horses7".utf8), to: "bad")
        let command = command + " --at \(Workplace.now)"
        let before = try encrypted.everything(in: "Keys")
        expectRefusal(
            try encrypted.runWithoutSecret(command), 64, saying: "the new passphrase has fewer than 8 characters")
        #expect(try encrypted.everything(in: "Keys") == before)
    }
}
