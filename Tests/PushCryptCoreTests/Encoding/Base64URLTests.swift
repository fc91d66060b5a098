import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct Base64URLTests {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    @Test(
        "a text is decoded only if its trailing bits are zero",
        arguments: ["", "A", "_", "AA", "b9", "-_", "AAAA", "Zm9v", "AAAAA", "AAAAAA", "AAAAAAAAAAAAAAAA"])
    func trailingBits(start: String) {
        for first in Self.alphabet.sampled(every: 3) {
            for last in Self.alphabet {
                let text = start + String(decoding: [first, last], as: UTF8.self)
                let bytes = Array(text.utf8)
                #expect(Base64URL.decode(bytes[...]) == Base64URLReference.decode(text), "\(text)")
            }
        }
    }

    @Test("each byte has exactly one accepted encoding")
    func onlyOneSpellingOfEachByte() {
        let spellings = Self.alphabet.flatMap { first in Self.alphabet.map { [first, $0] } }
        let accepted = spellings.compactMap { Base64URL.decode($0[...]) }
        #expect(accepted.count == 256)
        #expect(Set(accepted).count == 256)
    }

    @Test("a foreign character at any position is refused")
    func foreignCharactersAnywhere() {
        for count in [2, 3, 4, 7, 11, 16, 22, 35] {
            for position in 0..<count {
                // Each position has another sample, so that all characters are tested at each place of a group.
                let characters = (UInt8.min...UInt8.max).filter { !Self.alphabet.contains($0) }
                for character in characters.dropFirst(position % 5).sampled(every: 5) {
                    var text = [UInt8](repeating: UInt8(ascii: "A"), count: count)
                    text[position] = character
                    #expect(Base64URL.decode(text[...]) == nil, "\(text)")
                    #expect(Base64URL.decodeSecret(text[...]) == nil, "\(text)")
                }
            }
        }
    }

    @Test(
        "padding, white space and the standard alphabet are refused",
        arguments: [
            "=", "==", "AA==", "AAA=", "AAAA=", "AAAA====", "AA=A", " AAAA", "AAAA ", "AA AA", "AAAA\n", "\r\nAAAA",
            "AA+A", "AA/A", "AAé", "\u{FF21}AAA", "AAAA\0",
        ])
    func refused(text: String) {
        #expect(Base64URL.decode(Array(text.utf8)[...]) == nil)
        #expect(Base64URL.decodeSecret(Array(text.utf8)[...]) == nil)
    }

    @Test("a text whose length is 1 modulo 4 is refused", arguments: (0...25).map { $0 * 4 + 1 })
    func impossibleLengths(count: Int) {
        let text = [UInt8](repeating: UInt8(ascii: "A"), count: count)
        #expect(Base64URL.decode(text[...]) == nil)
        #expect(Base64URL.decodeSecret(text[...]) == nil)
    }

    @Test(
        "the texts of RFC 4648 section 10 are encoded and decoded",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"), ("\u{3}\u{7F}\u{3E}", "A38-"), ("\u{3F}\u{3F}\u{3F}", "Pz8_"),
        ])
    func published(plain: String, encoded: String) {
        #expect(Base64URL.encode(Array(plain.utf8)) == encoded)
        #expect(Base64URL.decode(Array(encoded.utf8)[...]) == Array(plain.utf8))
    }

    @Test("random bytes are encoded as Foundation does and decoded again", arguments: 0..<120)
    func randomRoundTrips(count: Int) throws {
        var random = SplitMix64(seed: UInt64(count))
        let bytes = random.bytes(count)
        let text = Base64URL.encode(bytes)
        #expect(text == Base64URLReference.encode(bytes))
        #expect(Base64URL.decode(Array(text.utf8)[...]) == bytes)
        let secret = try #require(Base64URL.decodeSecret(Array(text.utf8)[...]))
        #expect(secret.count == count)
        #expect(Array(secret.bytes) == bytes)
    }

    @Test("a slice of a longer text is decoded without its surroundings")
    func sliceOfALongerText() {
        let text = Array("..Zm9v..".utf8)
        #expect(Base64URL.decode(text[2..<6]) == Array("foo".utf8))
    }

    @Test("append adds the encoding to the bytes of the output")
    func appending() {
        var output = Array("x".utf8)
        Base64URL.append(Array("foob".utf8).bytes, to: &output)
        #expect(output == Array("xZm9vYg".utf8))
    }

    @Test("encodedCount is exact, and decodedCapacity is the greatest byte count whose encoding fits")
    func counts() {
        for count in 0...600 {
            let characters = Base64URL.encode([UInt8](repeating: 0, count: count)).utf8.count
            #expect(Base64URL.encodedCount(count) == characters)
            #expect(Base64URL.decodedCapacity(characters) == count)
            let capacity = Base64URL.decodedCapacity(count)
            #expect(Base64URL.encodedCount(capacity) <= count)
            #expect(Base64URL.encodedCount(capacity + 1) > count)
        }
    }
}
