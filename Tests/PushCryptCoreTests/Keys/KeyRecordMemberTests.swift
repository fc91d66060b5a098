import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// One record with one member that is missing, of another type, or of another content.
struct ChangedMember: Sendable, CustomStringConvertible {
    let jwk: TestJWK
    let code: KeyError.Code
    let description: String

    init(_ jwk: TestJWK, _ member: String, _ json: String?, _ code: KeyError.Code) {
        self.jwk = jwk.with(member, json)
        self.code = code
        description = "\(jwk), \(member) \(json ?? "missing"): \(code.name)"
    }
}

@Suite struct KeyRecordMemberTests {
    @Test(
        "a record with a missing, wrong or mistyped member is refused with its code",
        arguments: typeChanges + contentChanges + lengthChanges, Backends.all)
    func refused(changed: ChangedMember, backend: NamedBackend) {
        expectKeyError(changed.code) { try changed.jwk.record(backend.backend) }
    }

    /// Members of a record, with the failure of one that is missing or not a string.
    private static func required(_ jwk: TestJWK) -> [(String, KeyError.Code)] {
        jwk.members.keys.sorted().compactMap { name in
            switch name {
            case "alg", "crv": (name, .unsupportedKey)
            case "d", "psk", "device": nil
            default: (name, .malformed)
            }
        }
    }

    private static let typeChanges = TestJWK.all.flatMap { jwk in
        let required = required(jwk).flatMap { name, code in
            ([nil] + WrongJSON.types).map { ChangedMember(jwk, name, $0, code) }
        }
        let optional = ["d", "psk", "device"].filter { jwk.members[$0] != nil }.flatMap { name in
            WrongJSON.types.map { ChangedMember(jwk, name, $0, .malformed) }
        }
        return required + optional
    }

    private static let contentChanges = changedContents + misplaced

    private static let changedContents = TestJWK.all.flatMap { jwk in
        let strange = ["\"\"", "\"RSA\"", "\"ec\"", "\"P-384\"", "\"Ed448\"", "\"HPKE-0\"", "\"EdDSA\"", "\"ES256\""]
        let names = ["kty", "crv", "alg"].filter { jwk.members[$0] != nil }
        let kinds = names.flatMap { name in strange.map { ChangedMember(jwk, name, $0, .unsupportedKey) } }
        let kids = ["\"\"", "\"AAAAAAAAAA\"", "\"AAAAAAAAAAB\"", "\"AAAAAAAAAA=\""]
        return kinds + kids.map { ChangedMember(jwk, "kid", $0, .malformed) }
    }

    /// Secrets and coordinates have 32 bytes and one spelling.
    private static let lengthChanges = TestJWK.all.flatMap { jwk in
        ["x", "y", "k", "d", "psk"].filter { jwk.members[$0] != nil }.flatMap { name in
            misspelled(jwk, name).map { ChangedMember(jwk, name, "\"\($0)\"", .malformed) }
        }
    }

    private static func misspelled(_ jwk: TestJWK, _ name: String) -> [String] {
        let (text, bytes) = (jwk.text(name), jwk.bytes(name))
        let otherLengths: [[UInt8]] = [[], bytes.dropLast(), bytes + [0], [0] + bytes, bytes + bytes]
        let start = String(text.dropLast())
        let otherSpellings = [text + "=", text + "A", start, start + "B", " " + text, "+" + text.dropFirst()]
        return otherLengths.map { Base64URL.encode($0) } + otherSpellings
    }

    /// A member of another kind of record: a psk in an oct record would be ignored silently.
    private static let misplaced = TestJWK.all.flatMap { jwk -> [ChangedMember] in
        let isPair = jwk.members["d"] != nil
        let psk = jwk.members["x"] == nil || jwk.description == "sender"
        let values = WrongJSON.types + ["\"\"", "\"phone-1_A\""]
        let secrets = WrongJSON.types + ["\"\"", "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\""]
        return (isPair ? values.map { ChangedMember(jwk, "device", $0, .malformed) } : [])
            + (psk ? secrets.map { ChangedMember(jwk, "psk", $0, .malformed) } : [])
            + secrets.map { ChangedMember(jwk, "priv", $0, .malformed) }
            + (isPair ? [] : secrets.map { ChangedMember(jwk, "d", $0, .malformed) })
    }

    @Test(
        "a record with an invalid device id is refused",
        arguments: ["", "a b", "é", "a.b", String(repeating: "a", count: 65)])
    func invalidDevice(id: String) {
        for name in ["device", "shared"] {
            expectKeyError(.invalidDeviceID) { try TestJWK.named(name).with("device", "\"\(id)\"").record() }
        }
    }

    @Test(
        "a JSON value that isn't a JWK is refused as malformed",
        arguments: ["[]", "null", "1", "\"EC\"", "{}", #"{"keys":1}"#, #"{"keys":[]}"#, #"{"keys":{}}"#])
    func noRecord(json: String) {
        expectKeyError(.malformed) { try Keyset(json: Array(json.utf8)) }
    }

    @Test("a record in JSON that isn't strict is refused as malformed", arguments: TestJWK.all)
    func strictJSON(jwk: TestJWK) {
        let duplicate = jwk.json.dropLast() + ",\"kty\":\(jwk.members["kty"] ?? "")}"
        for text in [String(duplicate), jwk.json + "x", "\u{FEFF}" + jwk.json, String(jwk.json.dropLast()), ""] {
            expectKeyError(.malformed) { try Keyset(json: Array(text.utf8)) }
        }
    }
}
