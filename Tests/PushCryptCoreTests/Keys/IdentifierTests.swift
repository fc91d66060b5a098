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
            "AAAAA AAAAA",
            "AAAAAAAAA+A", "AAAAAAAAA/A", "AAAAAAAAAéA", "AAAAAAAAAA\n", "AAAAAAAAAé", "ＡAAAAAAAAA",
        ])
    func noKeyID(text: String) {
        #expect(KeyID(text) == nil)
    }

    @Test("16 of 64 last characters make a canonical key id")
    func lastCharacterOfAKeyID() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        let accepted = alphabet.filter { KeyID("AAAAAAAAAA\($0)") != nil }
        #expect(accepted == "AEIMQUYcgkosw048")
    }

    @Test("key ids are ordered by their ASCII bytes")
    func keyIDsHaveTheOrderOfTheirBytes() throws {
        let texts = ["-AAAAAAAAAA", "0AAAAAAAAAA", "AAAAAAAAAAA", "AAAAAAAAAAE", "_AAAAAAAAAA", "aAAAAAAAAAA"]
        let sorted = try texts.reversed().map { try #require(KeyID($0)) }.sorted()
        #expect(sorted.map(\.description) == texts)
    }

    private static let alphanumeric = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    @Test("a topic consists of letters, digits, points and hyphens")
    func charactersOfATopic() {
        expectAllowed(Self.alphanumeric + Array(".-".utf8)) { (try? Topic($0)) != nil }
    }

    @Test("a device id consists of letters, digits, underscores and hyphens")
    func charactersOfADeviceID() {
        expectAllowed(Self.alphanumeric + Array("_-".utf8)) { (try? DeviceID($0)) != nil }
    }

    private func expectAllowed(_ allowed: [UInt8], _ accepts: (String) -> Bool) {
        for character in UInt8(0)...127 {
            for text in [[character], [0x61, character], [character, 0x61]] {
                let isAllowed = allowed.contains(character)
                #expect(accepts(String(decoding: text, as: UTF8.self)) == isAllowed, "\(character)")
            }
        }
        for text in ["é", "aé", "e\u{301}", "\u{FF21}", "a\u{200B}", "😀", "\u{661}"] {
            #expect(!accepts(text), "\(text)")
        }
    }

    @Test(
        "a topic has 1 to 155 characters",
        arguments: [(0, false), (1, true), (2, true), (154, true), (155, true), (156, false), (1_000, false)])
    func lengthOfATopic(count: Int, isValid: Bool) {
        let text = String(repeating: "a", count: count)
        if isValid {
            #expect((try? Topic(text))?.description == text)
        } else {
            expectKeyError(.invalidTopic) { try Topic(text) }
        }
    }

    @Test(
        "a device id has 1 to 64 characters",
        arguments: [(0, false), (1, true), (2, true), (63, true), (64, true), (65, false), (1_000, false)])
    func lengthOfADeviceID(count: Int, isValid: Bool) {
        let text = String(repeating: "_", count: count)
        if isValid {
            #expect((try? DeviceID(text))?.description == text)
        } else {
            expectKeyError(.invalidDeviceID) { try DeviceID(text) }
        }
    }
}
