import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("registrations", .ownThreads)
struct RegistrationStreamTests {
    private static let host = "push.example.com"
    private let place: Workplace
    private let record: String

    init() throws {
        place = try Workplace()
        try place.create("Keys/phone", "recipient", "--psk")
        try place.create("Keys/backend", "sender")
        record = try place.run("keys", "export", "Keys/phone", "--registration").text.trimmingCharacters(in: .newlines)
    }

    private func ask(_ lines: [[String: Any]], at time: String = Workplace.now) throws -> [[String: Any]] {
        let input = try lines.map { try Payload.data($0) + Data("\n".utf8) }.reduce(Data(), +)
        let output = try place.run(
            ["registrations", "--stream", "--sign-with", "Keys/backend", "--topic", Workplace.topic, "--at", time],
            stdin: input)
        try #require(output.exit == 0, "\(output)")
        return try output.text.split(separator: "\n").map { try Payload.object(Data($0.utf8)) }
    }

    private func code(_ answer: [String: Any]) -> String? { (answer["error"] as? [String: Any])?["code"] as? String }

    private func challenge() throws -> (text: String, pending: [String: Any]) {
        let answer = try #require(try ask([["op": "challenge", "record": record, "host": Self.host, "tag": 7]]).first)
        #expect(answer["tag"] as? Int == 7 && (answer["pushcrypt"] as? [String: Int]) == ["line": 1])
        return (
            try #require(answer["challenge"] as? String), try #require(answer["pending"] as? [String: Any])
        )
    }

    /// What the app answers, with the key of the record, which pins the backend's key.
    private func answer(_ challenge: String) throws -> String {
        let keyset = try Keyset(file: place.folder.file("Keys/phone.keyset").path, secret: nil)
        let senders = try TrustedSenders(Keyset(file: place.folder.file("Keys/backend.keyset").path, secret: nil))
        let opener = try Opener(topic: Workplace.topic, keyring: KeysetKeyring(keyset), senders: .pinned(senders))
        let time = try #require(UnixTime(rfc3339: Workplace.now))
        return String(
            decoding: try opener.answer(
                challenge: Array(challenge.utf8), record: SecretBytes(copying: Array(record.utf8).bytes),
                host: Self.host,
                at: time), as: UTF8.self)
    }

    @Test("a signed challenge is answered by the device and confirmed, and the pending value has no nonce")
    func proof() throws {
        let (challenge, pending) = try challenge()
        #expect(Set(pending.keys) == ["version", "id", "registration", "codeDigest", "challengedAt"])
        let confirm: [String: Any] = ["op": "confirm", "answer": try answer(challenge), "pending": pending]
        let confirmed = try ask([confirm])[0]
        #expect(confirmed["record"] as? String == record && confirmed["suite"] as? Int == 1, "\(confirmed)")
        #expect(try code(ask([confirm], at: "2026-03-01T09:11:00Z")[0]) == "challengeExpired")
        let other = try self.challenge()
        #expect(
            try code(ask([["op": "confirm", "answer": try answer(other.text), "pending": pending]])[0])
                == "otherChallenge")
        var wrong = try answer(challenge)
        wrong.replaceSubrange(
            wrong.index(wrong.endIndex, offsetBy: -10)..<wrong.index(wrong.endIndex, offsetBy: -8), with: "xy")
        #expect(try code(ask([["op": "confirm", "answer": wrong, "pending": pending]])[0]) == "possessionNotProven")
    }

    @Test(
        "a change writes a new row, keeps the same one, compares environments, and removes an earlier key of the device"
    )
    func change() throws {
        func row(_ change: [String: Any] = [:]) -> [String: Any] {
            ["record": record, "account": "a", "deviceToken": "t", "environment": "production"].merging(change) { $1 }
        }
        try place.create("Keys/earlier", "recipient", "--psk")
        let earlier = try place.run("keys", "export", "Keys/earlier", "--registration").text.trimmingCharacters(
            in: .newlines)
        let kid = try #require(try Payload.string("kid", of: Data(earlier.utf8)))
        let cases: [([[String: Any]], Bool, Bool?, [String]?)] = [
            ([], false, true, []), ([row()], false, false, []), ([row(["environment": "sandbox"])], false, true, []),
            ([row(["deviceToken": "u"])], false, true, []), ([row(["record": earlier])], false, true, [kid]),
            ([row(["account": "b"])], false, nil, nil), ([row(["account": "b"])], true, true, []),
        ]
        let answers = try ask(
            cases.map { stored, isProven, _, _ in
                ["op": "change", "upload": row(), "stored": stored, "proven": isProven]
            })
        for (answer, expected) in zip(answers, cases) {
            #expect(answer["write"] as? Bool == expected.2 && answer["remove"] as? [String] == expected.3, "\(answer)")
            #expect(code(answer) == (expected.2 == nil ? "otherAccount" : nil))
        }
    }

    @Test("a receipt is read as JSON and as a form")
    func receipt() throws {
        let id = Base64URL.encode([UInt8](repeating: 1, count: 16))
        let json = #"{"id":"\#(id)","outcome":"keyLocked","time":1800000000,"kid":"AAAAAAAAAAA"}"#
        let form = "id=\(id)&outcome=keyLocked&time=1800000000&kid=AAAAAAAAAAA"
        for answer in try ask([json, form].map { ["op": "receipt", "body": $0] }) {
            let fields = try #require(answer["receipt"] as? [String: Any], "\(answer)")
            #expect(fields["outcome"] as? String == "keyLocked" && fields["kid"] as? String == "AAAAAAAAAAA")
            #expect(fields["name"] is NSNull && fields["suppressed"] as? Bool == false)
        }
    }

    @Test("wrong lines are refused with a code, and no answer repeats a part of the record")
    func refusals() throws {
        let secret = try #require(try Payload.string("psk", of: Data(record.utf8)))
        let upload: [String: Any] = ["record": record, "account": "a", "deviceToken": "t"]
        let cases: [([String: Any], String)] = [
            (["op": "read", "record": record], "malformedLine"),
            (["op": "challenge", "host": Self.host], "malformedLine"),
            (["op": "challenge", "record": record, "host": "https://a"], "invalidOption"),
            (["op": "challenge", "record": record + "}", "host": Self.host], "malformed"),
            (["op": "challenge", "record": record, "host": Self.host, "requiring": ["psl"]], "malformedLine"),
            (["op": "confirm", "answer": "{}", "pending": ["record": record]], "malformedLine"),
            (["op": "change", "upload": upload, "stored": []], "malformedLine"),
            (
                [
                    "op": "change", "upload": upload.merging(["environment": "test"]) { $1 }, "stored": [],
                    "proven": true,
                ], "malformedLine"
            ),
            (["op": "change", "upload": upload, "stored": [record], "proven": true], "malformedLine"),
            (["op": "receipt", "body": record], "malformed"), (["error": record], "malformedLine"),
        ]
        let answers = try ask(cases.map(\.0))
        for (answer, (_, expected)) in zip(answers, cases) {
            #expect(code(answer) == expected && !"\(answer)".contains(secret), "\(answer)")
        }
        let publicRecord = record.replacing(#""psk":"\#(secret)""#, with: #""other":"""#)
        let lines: [[String: Any]] = [
            ["op": "challenge", "record": publicRecord, "host": Self.host],
            ["op": "challenge", "record": publicRecord, "host": Self.host, "requiring": ["asymmetric"]],
        ]
        #expect(try ask(lines).map(code) == ["pskMissing", nil])
    }

    @Test("without --stream or a topic the command explains what is missing")
    func usage() throws {
        for arguments in [["registrations", "--topic", "a.b"], ["registrations", "--stream"]] {
            expectUsageError(try place.run(arguments, stdin: Data()))
        }
    }
}
