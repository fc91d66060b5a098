import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// Files with keys that are given where a payload is expected.
@Suite("a file with keys in place of a payload is named, and nothing of it is shown", .ownThreads)
struct KeyFileTests {
    private static let place = Result { try PlaceSnapshot(set(up: Workplace())) }

    private static func set(up place: Workplace) throws -> Workplace {
        try place.create("Keys/phone", "recipient", "--psk")
        try place.create("Keys/fleet", "shared")
        try place.create("Keys/backend", "sender")
        try place.export("Keys/phone", to: "phone.json", "--registration")
        try place.write(place.read("Keys/phone.keyset"), to: "plain.keyset")
        try place.createEncrypted("Keys/locked", .recipient)
        try place.write(place.read("Keys/locked.keyset"), to: "locked.keyset")
        try place.export("Keys/backend", to: "public.json")
        try place.write(Data(jwk.utf8), to: "private.json")
        try place.write(Data("[\(jwk)]".utf8), to: "array.json")
        try place.write(Data(#"{"user":"zoe","record":\#(jwk)}"#.utf8), to: "row.json")
        try place.write(Data("\u{FEFF}\(jwk)".utf8), to: "bom.json")
        try place.write(Data(jwk.dropLast(3).utf8), to: "cut.json")
        try place.write(Data("-----BEGIN PRIVATE KEY-----\n\(secret)\n-----END PRIVATE KEY-----\n".utf8), to: "key.pem")
        try place.write(Data("a passphrase\n".utf8), to: "pass")
        for form in ["pem", "der"] {
            let isPrivate = ["--private", "--format", form]
            try place.export("Keys/backend", to: "private.\(form)", isPrivate + ["--insecure-plaintext"])
            try place.export("Keys/backend", to: "locked.\(form)", isPrivate + ["--new-passphrase-file", "pass"])
            try place.export("Keys/backend", to: "public.\(form)", ["--format", form])
        }
        let pem = String(decoding: try place.read("private.pem"), as: UTF8.self)
        for (name, text) in [("jwk", jwk), ("pem", pem)] {
            try place.write(try JSONEncoder().encode(text), to: "\(name)-text.json")
        }
        let reference = #"{"url":"https://e.com/a","key":"\#(secret)","size":3,"sha256":"x","type":"image/png"}"#
        try place.write(Data(reference.utf8), to: "reference.json")
        return place
    }

    private static let secret = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I"
    private static let jwk = #"{"kty":"OKP","crv":"X25519","x":"abc","d":"\#(secret)","kid":"AAAAAAAAAAA"}"#

    private static let files = [
        ("phone.json", "a key with secret members (JWK)"), ("plain.keyset", "a keyset"),
        ("public.json", "a set of public keys"), ("private.json", "a key with secret members (JWK)"),
        ("array.json", "a key with secret members (JWK) inside"),
        ("row.json", "a key with secret members (JWK) inside"),
        ("bom.json", "a key or a damaged file with one"), ("cut.json", "a key or a damaged file with one"),
        ("key.pem", "a key or a damaged file with one"),
        ("private.pem", "a PEM file with a private key"), ("private.der", "a DER file with a private key"),
        ("locked.pem", "a PEM file with an encrypted private key"),
        ("locked.der", "a DER file with an encrypted private key"),
        ("public.pem", "a PEM file with a public key"), ("public.der", "a DER file with a public key"),
        ("jwk-text.json", "a key with secret members (JWK)"), ("pem-text.json", "a PEM file with a private key"),
        ("reference.json", "the reference of an encrypted file, with its key"),
        ("locked.keyset", "a keyset"),
    ]
    private static let commands = [
        "inspect", "inspect --json", "diagnose", "diagnose --json",
        "open --keys Keys/phone --topic com.example.app", "seal --to Keys/phone --topic com.example.app",
        "simulate", "simulate --json", "simulate --picture page.html",
    ]

    /// Every long text of the file: its keys and secrets.
    private func expectNothing(of file: Data, in text: String, _ sourceLocation: SourceLocation = #_sourceLocation) {
        for word in String(decoding: file, as: UTF8.self).split(whereSeparator: { "\"\n, ".contains($0) })
        where word.count >= 40 { #expect(!text.contains(word), "\(word)", sourceLocation: sourceLocation) }
    }

    @Test("each command that expects a payload exits 65 and names the kind of file", arguments: files)
    func refused(_ file: String, _ kind: String) throws {
        let place = try Self.place.get().place()
        let content = try place.read(file)
        for command in Self.commands {
            // A file of lines may begin with a byte order mark.
            let isRead = file == "bom.json" && command.hasPrefix("simulate")
            let kind = isRead ? "a key with secret members (JWK)" : kind
            let output = try place.run(command.split(separator: " ").map(String.init) + [file])
            #expect(output.exit == 65 && output.stdout.isEmpty, "\(command): \(output)")
            #expect(output.stderr.contains(" is \(kind), and a payload is needed"), "\(command): \(output)")
            expectNothing(of: content, in: output.stderr)
            #expect(!place.has("page.html"))
        }
    }

    @Test("a line of a batch that is a key, or whose payload is one, is refused, and its answer has nothing of the key")
    func lines() throws {
        let place = try Self.place.get().place()
        let text = String(decoding: try JSONEncoder().encode(Self.jwk), as: UTF8.self)
        let lines = [Self.jwk, #"{"payload":\#(Self.jwk)}"#, #"{"keys":[\#(Self.jwk)]}"#, #"{"payload":\#(text)}"#]
        for command in ["seal --to Keys/phone", "open --keys Keys/phone"] {
            for mode in ["--batch", "--stream"] {
                let output = try place.run(
                    command.split(separator: " ").map(String.init) + ["--topic", "com.example.app", mode],
                    stdin: Data(lines.map { $0 + "\n" }.joined().utf8))
                let text = output.text + output.stderr
                #expect(text.ranges(of: "and a payload is needed").count == 4, "\(command) \(mode): \(output)")
                #expect(!text.contains(Self.secret), "\(command) \(mode): \(output)")
            }
        }
    }

    @Test("a payload with a key among its own members, and a line with a recipient's key, are no files with keys")
    func payloads() throws {
        let place = try Self.place.get().place()
        let payload = #"{"aps":{"alert":"x"},"key":\#(Self.jwk)}"#
        #expect(try place.seal(to: "Keys/phone", payload: Data(payload.utf8)).isSuccess)
        let registration = String(decoding: try place.read("phone.json"), as: UTF8.self).replacing("\n", with: "")
        let line = #"{"payload":{"aps":{"alert":"x"}},"to":\#(registration)}"# + "\n"
        let output = try place.run(
            "seal", "--batch", "--topic", "com.example.app", "--at", Workplace.now, stdin: Data(line.utf8))
        #expect(output.exit == 0, "\(output)")
        #expect(try place.run("simulate", "--json", stdin: Data(line.utf8)).text.contains("\"outcome\":\"original\""))
    }
}
