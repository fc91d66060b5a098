import PushCryptCore
import PushCryptKeysets
import Testing

/// These files are refused while they are parsed, before a secret is requested.
@Suite("Malformed encrypted keysets")
struct MalformedFileTests {
    static let members = [
        "pushcrypt", "pushcrypt.seq", "pushcrypt.keys", "sealed.v", "sealed.passphrase", "sealed.passphrase.n",
        "sealed.passphrase.r", "sealed.passphrase.p", "sealed.passphrase.salt", "sealed.passphrase.check",
        "sealed.dataKey", "sealed.keys",
    ]

    @Test("an encrypted keyset without a member is malformed", arguments: members)
    func missing(_ path: String) throws {
        let text = try EditedText(SealedSample.text()).removing(path).withDigest()
        #expect(KeyError.Code.thrown { try text.file() } == .malformed)
    }

    @Test("an encrypted keyset with a member of another type is malformed", arguments: members)
    func types(_ path: String) throws {
        let text = EditedText(try SealedSample.text())
        for value in ["null", "true", "1.5", #""=""#, "[]"] {
            let changed = try text.setting(path, to: value).withDigest()
            #expect(KeyError.Code.thrown { try changed.file() } == .malformed, "\(path): \(value)")
        }
    }

    static let values: [(String, String)] = [
        ("sealed", "null"), ("sealed", "{}"), ("sealed", "[]"), ("sealed", "true"),
        ("sealed.v", "0"), ("sealed.v", "2"), ("sealed.v", "-1"), ("sealed.v", "1.0"), ("sealed.v", "1e0"),
        ("sealed.passphrase.n", "0"), ("sealed.passphrase.n", "1"), ("sealed.passphrase.n", "3"),
        ("sealed.passphrase.n", "-2"), ("sealed.passphrase.n", "2097152"), ("sealed.passphrase.n", "9007199254740992"),
        ("sealed.passphrase.n", "4503599627370496"), ("sealed.passphrase.n", "65536"),
        ("sealed.passphrase.r", "0"), ("sealed.passphrase.r", "33"), ("sealed.passphrase.r", "9007199254740991"),
        ("sealed.passphrase.p", "0"), ("sealed.passphrase.p", "17"), ("sealed.passphrase.p", "9007199254740991"),
        ("sealed.passphrase.salt", #""AAAAAAAAAAAAAAAAAAAA""#),
        ("sealed.passphrase.salt", #""AAAAAAAAAAAAAAAAAAAAAAA""#),
        ("sealed.passphrase.salt", #""AAAAAAAAAAAAAAAAAAAAAB""#),
        ("sealed.passphrase.salt", #""AAAAAAAAAAAAAAAAAAAAA=""#),
        ("sealed.passphrase.check", #""AAAAAAAAAAAAAAAAAAAA""#), ("sealed.passphrase.check", #""""#),
        ("sealed.dataKey", #""""#), ("sealed.dataKey", #""AAAA""#), ("sealed.keys", #""""#),
        ("sealed.keys", #""\#(String(repeating: "A", count: 36))""#),
    ]

    @Test("an encrypted keyset with a member out of bounds is malformed", arguments: values)
    func bounds(_ path: String, _ value: String) throws {
        let text = try EditedText(SealedSample.text()).setting(path, to: value).withDigest()
        #expect(KeyError.Code.thrown { try text.file() } == .malformed)
    }

    /// N and r are within their limits but together need more than 1 GiB.
    @Test("scrypt parameters that need too much memory are refused")
    func memory() throws {
        let text = try EditedText(SealedSample.text()).setting("sealed.passphrase.n", to: "1048576")
            .setting("sealed.passphrase.r", to: "9").withDigest()
        let error = #expect(throws: KeyError.self) { try text.file() }
        #expect(error?.reason.contains("1 GiB") == true)
    }

    @Test("a keyset with contradictory members is malformed")
    func ambiguous() throws {
        let text = EditedText(try SealedSample.text())
        let plain = #""keys": [], "sealed": "#
        for (old, new) in [
            (#""passphrase": {"#, #""command": true, "passphrase": {"#),
            (#""passphrase": {"#, #""command": false, "passphrase": {"#),
            (#""sealed": "#, plain),
        ] {
            let changed = try EditedText(text.text.replacing(old, with: new)).withDigest()
            #expect(KeyError.Code.thrown { try changed.file() } == .malformed, "\(new)")
        }
    }

    @Test("a command member that isn't true is malformed", arguments: ["false", "null", #""true""#, "1", "[]"])
    func command(_ value: String) throws {
        let text = EditedText(
            try SealedSample.text().replacing(/"passphrase": \{[^}]*\}/, with: "\"command\": \(value)"))
        #expect(KeyError.Code.thrown { try text.withDigest().file() } == .malformed)
    }

    @Test("a keyset of a later version is refused, and the error names the version")
    func version() throws {
        let text = try EditedText(SealedSample.text()).setting("sealed.v", to: "3").withDigest()
        let error = #expect(throws: KeyError.self) { try text.file() }
        let words = "in version 3, and this pushcrypt reads versions 1 and 2: use a newer pushcrypt"
        #expect(error?.code == .unsupportedVersion && error?.reason.contains(words) == true)
    }
}
