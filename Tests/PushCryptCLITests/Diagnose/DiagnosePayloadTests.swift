import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptSimulator
import Testing

/// Payloads that something changed between the sealer and the device.
@Suite("diagnose: the payload", .ownThreads)
struct DiagnosePayloadTests {
    @Test("a payload that was changed on the way isn't restored, and the change is the cause", arguments: changes)
    func change(_ change: Change) async throws {
        let app = try await InstalledApp()
        // base64url that has characters of both alphabets.
        var push = try app.seal()
        while !Self.hasBothCharacters(push) { push = try app.seal() }
        let payload = try change.apply(push)
        await app.fail(payload)
        for inputs in [[], ["--topic", InstalledApp.topic, "--keys", try app.keyFile()]] {
            let diagnosed = try Diagnosed(app.place, payload, inputs, at: app.clock.time)
            #expect(diagnosed.cause == change.fault, "\(diagnosed.text)")
        }
    }

    private static func hasBothCharacters(_ payload: Data) -> Bool {
        let sealed = (try? Payload.string("pushcrypt.sealed", of: payload)) ?? ""
        return sealed.contains("-") && sealed.contains("_")
    }

    @Test(
        "what APNs answers, given as the payload, is recognized: the body, and all that curl -i prints",
        arguments: [
            "HTTP/2 400 \r\napns-id: 9D9E5C5B\r\n\r\n{\"reason\":\"BadDeviceToken\"}",
            "HTTP/2 200 \r\napns-id: 9D9E5C5B\r\n\r\n",
        ])
    func answer(_ text: String) throws {
        let diagnosed = try Diagnosed(Workplace(), Data(text.utf8), [], at: InstalledApp.start)
        #expect(
            diagnosed.names == ["payload-missing"] && diagnosed.text.contains("answer of APNs"), "\(diagnosed.text)")
    }

    @Test("the name of a member that isn't usual isn't printed: it may be content")
    func privateName() async throws {
        let app = try await InstalledApp()
        let token = String(repeating: "0f", count: 32)
        let diagnosed = try app.diagnose(Payload.data([token: Payload.object(app.seal())]))
        #expect(diagnosed.cause == "payload-wrapped" && !diagnosed.text.contains(token), "\(diagnosed.text)")
    }

    @Test("the evidence names what was changed, and the advice what the text looks like")
    func facts() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let upper = try Payload.changing(push, "pushcrypt") { $0["kid"] = ($0["kid"] as? String)?.lowercased() }
        let cases: [(Data, String)] = [
            (Data("10:31:02 sending ".utf8) + push, "line of a log"),
            (Data(#"{"a":1,"a":2}"#.utf8), "a name occurs twice in an object"), (upper, "the case of letters"),
            (try Payload.changing(push, "pushcrypt") { $0["v"] = 0 }, "pushcrypt.v is 0"),
            (try Payload.sealed(push) { String($0.prefix(40)) }, "fewer than the shortest message has"),
        ]
        for (payload, words) in cases {
            let diagnosed = try app.diagnose(payload, "--keys", app.keyFile())
            let first = diagnosed.first
            #expect((first.evidence + [first.advice]).contains { $0.contains(words) }, "\(words): \(diagnosed.text)")
        }
    }

    @Test("a push to a published demo key is an error")
    func demoKey() async throws {
        let app = try await InstalledApp()
        let push = try Payload.changing(app.seal(), "pushcrypt") { $0["kid"] = "nMfbZ7h-wC0" }
        #expect(try app.diagnose(push).names == ["demo-key"])
    }

    @Test("a request to Firebase and a message to Amazon SNS are examined at their payload for APNs")
    func services() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        func firebase(_ push: Data) throws -> Data {
            try Payload.data(["message": ["token": "x", "apns": ["payload": Payload.object(push)]]])
        }
        func message(_ push: Data) throws -> Data {
            try Payload.data(["default": "x", "APNS": String(decoding: push, as: UTF8.self)])
        }
        let changed = try Payload.changing(push, "aps") { $0["mutable-content"] = nil }
        for service in [firebase, message] {
            #expect(try app.diagnose(service(push)).found.isEmpty)
            #expect(try app.diagnose(service(changed)).names == ["mutable-content-missing"])
        }
        // SNS takes only a string.
        let object = try app.diagnose(Payload.data(["default": "x", "APNS": Payload.object(push)]))
        #expect(object.names == ["payload-wrapped"], "\(object)")
    }

    @Test("the userInfo of a restored notification is no error, and the same object as a request is one")
    func restoredUserInfo() async throws {
        let app = try await InstalledApp()
        let reception = await app.device.receive([UInt8](try app.seal()))
        let userInfo = Data(try #require(reception.content?.userInfo))
        let diagnosed = try app.diagnose(userInfo)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["not-sealed"], "\(diagnosed.text)")
        let headers = try app.write(
            Data(#"{"apns-topic":"com.example.app","apns-push-type":"alert"}"#.utf8), to: "headers.json")
        #expect(try app.diagnose(userInfo, "--headers", headers).cause == "not-sealed")
    }

    /// A relay that changes what the sealer made, and the fault that it causes.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fault: String
        let apply: @Sendable (Data) throws -> Data

        init(_ description: String, _ fault: String, _ apply: @escaping @Sendable (Data) throws -> Data) {
            (testDescription, self.fault, self.apply) = (description, fault, apply)
        }
    }

    static let changes: [Change] = [
        Change("empty", "payload-missing") { _ in Data() },
        Change("the answer of APNs", "payload-missing") { _ in Data(#"{"reason":"BadDeviceToken"}"#.utf8) },
        Change("cut after 255 bytes", "payload-truncated") { $0.prefix(255) },
        Change("printed by Python", "payload-not-json") { payload in
            Data(String(decoding: payload, as: UTF8.self).replacing("\"", with: "'").utf8)
        },
        Change("a byte order mark", "payload-not-json") { Data([0xef, 0xbb, 0xbf]) + $0 },
        Change("JSON in a JSON string", "payload-not-json") { payload in
            try Payload.data(String(decoding: payload, as: UTF8.self))
        },
        Change("a line of the queue instead of its payload", "payload-wrapped") { payload in
            try Payload.data(["device": "7f", "payload": try Payload.object(payload), "token": "00"])
        },
        Change("pushcrypt under data", "envelope-changed") { payload in
            try Payload.rebuilt(payload) { $0["data"] = ["pushcrypt": $0.removeValue(forKey: "pushcrypt")] }
        },
        Change("the members of pushcrypt at the top", "envelope-changed") { payload in
            try Payload.rebuilt(payload) { root in
                let envelope = root.removeValue(forKey: "pushcrypt") as? [String: Any] ?? [:]
                root.merge(envelope) { $1 }
            }
        },
        Change("pushcrypt as a string", "envelope-changed") { payload in
            try Payload.rebuilt(payload) { root in
                root["pushcrypt"] = String(decoding: try Payload.data(try #require(root["pushcrypt"])), as: UTF8.self)
            }
        },
        Change("pushcrypt removed", "not-sealed") { try Payload.rebuilt($0) { $0["pushcrypt"] = nil } },
        Change("numbers as strings", "envelope-changed") { payload in
            let text = String(decoding: payload, as: UTF8.self)
            return Data(text.replacing("\"v\":1", with: "\"v\":\"1\"").utf8)
        },
        Change("kid removed", "envelope-changed") { try Payload.changing($0, "pushcrypt") { $0["kid"] = nil } },
        Change("a newer version", "version-unsupported") { try Payload.changing($0, "pushcrypt") { $0["v"] = 2 } },
        Change("standard base64", "sealed-changed") { payload in
            try Payload.sealed(payload) { sealed in
                let standard = sealed.replacing("-", with: "+").replacing("_", with: "/")
                return standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
            }
        },
        Change("codes for an address", "sealed-changed") { payload in
            try Payload.sealed(payload) { $0.replacing("-", with: "%2B").replacing("_", with: "%2F") + "%3D" }
        },
        Change("sealed in hexadecimal", "sealed-changed") { payload in
            try Payload.sealed(payload) { sealed in
                let bytes = Base64URL.decode(Array(sealed.utf8)[...]) ?? []
                return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
        },
        Change("a line of seal --batch", "payload-wrapped") { payload in
            let summary: [String: Any] = ["line": 1, "id": "x", "expiresAt": 1_900_000_000]
            return try Payload.data(["payload": try Payload.object(payload), "to": "x", "pushcrypt": summary])
        },
        Change("sealed shortened by a log", "payload-truncated") { payload in
            try Payload.sealed(payload) { $0.prefix(100) + "..." }
        },
        Change("aps removed", "alert-missing") { try Payload.rebuilt($0) { $0["aps"] = nil } },
        Change("mutable-content removed", "mutable-content-missing") { payload in
            try Payload.changing(payload, "aps") { $0["mutable-content"] = nil }
        },
        Change("members that a relay adds", "payload-too-large") { payload in
            try Payload.rebuilt(payload) { $0["trace"] = String(repeating: "x", count: 4_000) }
        },
    ]
}
