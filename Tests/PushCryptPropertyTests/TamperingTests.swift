import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// Every character of what is sealed and of the key ids, changed one at a time.
@Suite struct TamperingTests {
    private static let foreign: [Character] = ["=", "+", "/", " ", ".", "é", "\u{0}", "\"", "%"]

    /// A larger sample for channels without a signature, whose `sealed` is shorter; both steps are coprime with four.
    private func step(_ channel: Channel) -> Int { channel.isSigned ? 9 : 3 }

    /// `malformed` for text that isn't canonical base64url, `undecryptable` for every other change.
    private func expected(_ sealed: String) -> FailureClass {
        Base64URLReference.isCanonical(sealed) ? .undecryptable : .malformed
    }

    @Test(
        "a push with a changed character of sealed is undecryptable or, if not canonical, malformed",
        arguments: Channel.opened)
    func everyCharacterOfSealed(channel: Channel) throws {
        let outer = OuterText(try channel.seal())
        let sealed = Array(try #require(outer.member("sealed")))
        let opener = try channel.opener()
        var random = SplitMix64(seed: 21)
        for index in sealed.indices.sampled(every: step(channel)) {
            let other = Base64URLReference.alphabet.filter { $0 != sealed[index] }.randomElement(using: &random) ?? "A"
            let foreign = Self.foreign.randomElement(using: &random) ?? "="
            for character in [other, foreign] {
                var changed = sealed
                changed[index] = character
                let result = opener.open(outer.with("sealed", String(changed)).bytes, at: Channel.now)
                expect(expected(String(changed)), result, "\(index): \(character)")
            }
        }
    }

    @Test(
        "a push with another last character of sealed is undecryptable or, with trailing bits, malformed",
        arguments: Channel.all
    )
    func lastCharacterOfSealed(channel: Channel) throws {
        for length in 0..<3 {
            let body = String(repeating: "y", count: length + 1)
            let outer = OuterText(try channel.seal(#"{"aps":{"alert":"\#(body)"}}"#))
            let sealed = try #require(outer.member("sealed"))
            let opener = try channel.opener()
            for character in Base64URLReference.alphabet where character != sealed.last {
                let changed = String(sealed.dropLast()) + String(character)
                expect(expected(changed), opener.open(outer.with("sealed", changed).bytes, at: Channel.now))
            }
        }
    }

    @Test("a push with a prefix or suffix of sealed is undecryptable or malformed", arguments: Channel.opened)
    func everyTruncation(channel: Channel) throws {
        let outer = OuterText(try channel.seal())
        let sealed = try #require(outer.member("sealed"))
        let opener = try channel.opener()
        for count in (0..<sealed.count).sampled(every: step(channel)) {
            let changed = String(sealed.prefix(count))
            expect(expected(changed), opener.open(outer.with("sealed", changed).bytes, at: Channel.now), "\(count)")
        }
        for count in (1..<sealed.count).sampled(every: step(channel)) {
            let changed = String(sealed.suffix(count))
            expect(expected(changed), opener.open(outer.with("sealed", changed).bytes, at: Channel.now), "-\(count)")
        }
    }

    @Test("a push with characters added to sealed is undecryptable or malformed", arguments: Channel.opened)
    func extensions(channel: Channel) throws {
        let outer = OuterText(try channel.seal())
        let sealed = try #require(outer.member("sealed"))
        let opener = try channel.opener()
        for extra in ["A", "AA", "AAA", "AAAA", "AAAAA", "Q", "=", "==", sealed, String(repeating: "A", count: 2_000)] {
            for changed in [sealed + extra, extra + sealed] {
                expect(expected(changed), opener.open(outer.with("sealed", changed).bytes, at: Channel.now), "\(extra)")
            }
        }
    }

    @Test("a push with another kid fails with unknownKey or, if not canonical, malformed", arguments: Channel.all)
    func everyCharacterOfKeyID(channel: Channel) throws {
        try changeKeyID("kid", channel)
    }

    @Test(
        "a push with another skid fails with unknownKey or, if not canonical, malformed",
        arguments: Channel.all.filter(\.isSigned))
    func everyCharacterOfSenderKeyID(channel: Channel) throws {
        try changeKeyID("skid", channel)
    }

    private func changeKeyID(_ name: String, _ channel: Channel) throws {
        let outer = OuterText(try channel.seal())
        let kid = Array(try #require(outer.member(name)))
        let opener = try channel.opener()
        for index in kid.indices {
            // The reading of an id doesn't depend on the suite: all characters for one channel, a sample for the others.
            let characters = Base64URLReference.alphabet + Self.foreign
            for character in channel.key == "shared" ? characters : characters.sampled(every: 7)
            where character != kid[index] {
                var changed = kid
                changed[index] = character
                let isKeyID = Base64URLReference.isCanonical(String(changed))
                let result = opener.open(outer.with(name, String(changed)).bytes, at: Channel.now)
                expect(isKeyID ? .unknownKey : .malformed, result, "\(index): \(character)")
            }
        }
        for length in Array(0...10) + [12, 22, 43] {
            let changed = String(repeating: "A", count: length)
            expect(.malformed, opener.open(outer.with(name, changed).bytes, at: Channel.now))
        }
    }
}
