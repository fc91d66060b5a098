import Foundation
import PushCryptTestSupport
import Testing

/// Files as other tools, editors and Windows write them.
@Suite("keys import of other tools' files", .ownThreads)
struct ForeignKeyFileTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
    }

    private func imported(_ file: Data, _ options: [String] = []) throws -> Output {
        try place.write(file, to: "file")
        return try place.run(
            ["keys", "import", "Keys/new", "file", "--insecure-plaintext", "--at", Workplace.newYear]
                + options)
    }

    /// The private JWK of a new key, changed.
    private func jwk(_ kind: String, _ change: (inout [String: Any]) -> Void) throws -> (kid: String, file: Data) {
        let words = kind.split(separator: " ").map(String.init)
        let kid = try place.create("Keys/old", words[0], Array(words.dropFirst()), at: Workplace.newYear)
        let output = try place.run(
            "keys", "export", "Keys/old", "--private", "--insecure-plaintext", "--format", "jwk", "--at",
            Workplace.newYear)
        var members = try output.object()
        change(&members)
        return (kid, try JSONSerialization.data(withJSONObject: members))
    }

    @Test(
        "a JWK without kid and alg, or with those of JOSE, is imported with both computed",
        arguments: [
            ("recipient", nil, nil), ("recipient", "ECDH-ES+A256KW", "my-key"),
            ("recipient --suite x25519", "ECDH-ES", nil), ("sender", "EdDSA", "2026-01"), ("shared", "A256GCM", "k"),
        ] as [(String, String?, String?)])
    func computed(_ kind: String, _ alg: String?, _ kid: String?) throws {
        let (expected, file) = try jwk(kind) { members in
            (members["alg"], members["kid"]) = (alg, kid)
            (members["ext"], members["key_ops"], members["use"]) = (true, ["deriveBits"], "enc")
        }
        let output = try imported(file)
        #expect(output.isSuccess && output.line == expected, "\(output)")
        #expect(try place.secrets(in: "Keys/new") == (try place.secrets(in: "Keys/old")))
    }

    @Test(
        "a byte order mark or UTF-16 in a JWK, PEM or base64 file is refused by name",
        arguments: zip(["jwk", "pem", "raw"], ["mark", "UTF-16", "UTF-16 without mark"]))
    func encoding(_ form: String, _ encoding: String) throws {
        try place.create("Keys/old", "recipient")
        let output = try place.run(
            "keys", "export", "Keys/old", "--private", "--insecure-plaintext", "--format", form, "--at", Workplace.now)
        let text = output.text
        let units = Data(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
        let file =
            switch encoding {
            case "mark": Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)
            case "UTF-16": Data([0xFF, 0xFE]) + units
            default: units
            }
        let options = form == "raw" ? ["--kind", "recipient"] : []
        let name = encoding == "mark" ? "UTF-8 with a byte order mark: save it without one" : "UTF-16: save it as UTF-8"
        expectRefusal(try imported(file, options), 65, saying: "file: the file is " + name)
        guard form == "jwk" else { return }
        expectRefusal(try place.seal(to: "file"), 65, saying: name)
        try place.write(file, to: "senders.json")
        let pushes = try place.run(
            "open", "--keys", "Keys/old", "--topic", "a.b", "--trust", "senders.json", stdin: Workplace.inner)
        expectRefusal(pushes, 65, saying: name)
    }
}
