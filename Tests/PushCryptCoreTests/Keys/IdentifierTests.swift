import Testing

@testable import PushCryptCore

@Suite struct IdentifierTests {
    @Test(
        "11 characters of canonical base64url are a key id",
        arguments: ["AAAAAAAAAAA", "___________".dropLast() + "8", "abcdefghijk".dropLast() + "A", "0-_zZ9-_abE"])
    func keyID(text: String) throws {
        let kid = try #require(KeyID(text))
        #expect(kid.description == text)
        #expect(Array(kid.utf8) == Array(text.utf8))
        #expect(KeyID(utf8: Array(text.utf8)[...]) == kid)
    }

    @Test(
        "texts of another length, with foreign characters or with trailing bits aren't key ids",
        arguments: [
            "", "A", "AAAAAAAAAA", "AAAAAAAAAAAA", "AAAAAAAAAA=", "AAAAAAAAAAB", "AAAAAAAAAAC", "AAAAAAAAAAD",
            "AAAAA AAAAA", "AAAAAAAAA+A", "AAAAAAAAA/A", "AAAAAAAAAéA", "AAAAAAAAAA\n", "AAAAAAAAAé", "ＡAAAAAAAAA",
        ])
    func noKeyID(text: String) {
        #expect(KeyID(text) == nil)
    }

    @Test("key ids are ordered by their ASCII bytes")
    func keyIDsHaveTheOrderOfTheirBytes() throws {
        let texts = ["-AAAAAAAAAA", "0AAAAAAAAAA", "AAAAAAAAAAA", "AAAAAAAAAAE", "_AAAAAAAAAA", "aAAAAAAAAAA"]
        let sorted = try texts.reversed().map { try #require(KeyID($0)) }.sorted()
        #expect(sorted.map(\.description) == texts)
    }

    struct Name: Sendable, CustomStringConvertible {
        let description: String
        let punctuation: String
        let maximum: Int
        let code: KeyError.Code
        let read: @Sendable (String) throws -> String
    }

    private static let names = [
        Name(description: "a topic", punctuation: ".-", maximum: 155, code: .invalidTopic) {
            try Topic($0).description
        },
        Name(description: "a device id", punctuation: "_-", maximum: 64, code: .invalidDeviceID) {
            try DeviceID($0).description
        },
    ]

    @Test("a topic or device id consists of letters, digits and its two punctuation marks", arguments: names)
    func characters(of name: Name) {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        let allowed = Array((letters + name.punctuation).utf8)
        for character in UInt8(0)...127 {
            for text in [[character], [0x61, character], [character, 0x61]] {
                let isRead = (try? name.read(String(decoding: text, as: UTF8.self))) != nil
                #expect(isRead == allowed.contains(character), "\(character)")
            }
        }
        for text in ["é", "aé", "e\u{301}", "\u{FF21}", "a\u{200B}", "😀", "\u{661}"] {
            expectKeyError(name.code, "\(text)") { try name.read(text) }
        }
    }

    @Test("a topic has 1 to 155 characters, and a device id 1 to 64", arguments: names)
    func length(of name: Name) throws {
        for count in [1, 2, name.maximum - 1, name.maximum] {
            let text = String(repeating: "a", count: count)
            #expect(try name.read(text) == text)
        }
        for count in [0, name.maximum + 1, 1_000] {
            expectKeyError(name.code, "\(count)") { try name.read(String(repeating: "a", count: count)) }
        }
    }
}
