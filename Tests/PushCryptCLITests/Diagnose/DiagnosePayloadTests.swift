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
            #"{"reason":"Unregistered","timestamp":1800000000000}"#,
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
        let diagnosed = try app.diagnose(Relay.data([token: Relay.object(app.seal())]))
        #expect(diagnosed.cause == "payload-wrapped" && !diagnosed.text.contains(token), "\(diagnosed.text)")
        let usual = try app.diagnose(Relay.data(["data": Relay.object(app.seal())]))
        #expect(usual.text.contains("are at data,"), "\(usual.text)")
    }

    @Test("the evidence names what was changed, and the advice what the text looks like")
    func facts() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let upper = try Relay.changing(push, "pushcrypt") { $0["kid"] = ($0["kid"] as? String)?.lowercased() }
        let cases: [(Data, String)] = [
            (Data("10:31:02 sending ".utf8) + push, "line of a log"),
            (Data(#"{"a":1,"a":2}"#.utf8), "a name occurs twice in an object"), (upper, "the case of letters"),
            (try Relay.changing(push, "pushcrypt") { $0["v"] = 0 }, "pushcrypt.v is 0"),
            (try Relay.sealed(push) { String($0.prefix(40)) }, "fewer than the shortest message has"),
        ]
        for (payload, words) in cases {
            let diagnosed = try app.diagnose(payload, "--keys", app.keyFile())
            let first = diagnosed.first
            #expect((first.evidence + [first.advice]).contains { $0.contains(words) }, "\(words): \(diagnosed.text)")
        }
    }

    @Test("with keys, the cause of sealed that was cut without a trace names a cut")
    func cut() async throws {
        let app = try await InstalledApp()
        let push = try Relay.sealed(app.seal()) { String($0.prefix(320)) }
        await app.fail(push)
        let unknown = try app.diagnose(push)
        #expect(unknown.found.isEmpty && unknown.text.contains("may be incomplete"), "\(unknown.text)")
        let known = try app.diagnose(push, "--topic", InstalledApp.topic, "--keys", app.keyFile())
        #expect(known.names == ["undecryptable"] && known.first.cause.contains("cut off"), "\(known.text)")
    }

    @Test("a push of every padding is healthy without keys", arguments: [PaddingPolicy.none, .limit])
    func padding(_ padding: PaddingPolicy) async throws {
        let app = try await InstalledApp()
        let push = try app.seal(options: .init(padding: padding))
        await app.succeed(push)
        #expect(try app.diagnose(push).found.isEmpty)
    }

    @Test("a push to a published demo key is an error")
    func demoKey() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "pushcrypt") { $0["kid"] = "nMfbZ7h-wC0" }
        #expect(try app.diagnose(push).names == ["demo-key"])
    }

    @Test("a request to Firebase and a message to Amazon SNS are examined at their payload for APNs")
    func services() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        func firebase(_ push: Data) throws -> Data {
            try Relay.data(["message": ["token": "x", "apns": ["payload": Relay.object(push)]]])
        }
        func message(_ push: Data) throws -> Data {
            try Relay.data(["default": "x", "APNS": String(decoding: push, as: UTF8.self)])
        }
        let changed = try Relay.changing(push, "aps") { $0["mutable-content"] = nil }
        for service in [firebase, message] {
            #expect(try app.diagnose(service(push)).found.isEmpty)
            #expect(try app.diagnose(service(changed)).names == ["mutable-content-missing"])
        }
        // SNS takes only a string.
        let object = try app.diagnose(Relay.data(["default": "x", "APNS": Relay.object(push)]))
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
        Change("UTF-16", "payload-not-json") { payload in
            try #require(String(decoding: payload, as: UTF8.self).data(using: .utf16LittleEndian))
        },
        Change("a byte order mark", "payload-not-json") { Data([0xef, 0xbb, 0xbf]) + $0 },
        Change("Latin-1", "payload-not-json") { payload in
            let text = String(decoding: payload, as: UTF8.self).replacing("New message", with: "Nouvelle à lire")
            return try #require(text.data(using: .isoLatin1))
        },
        Change("JSON in a JSON string", "payload-not-json") { payload in
            try Relay.data(String(decoding: payload, as: UTF8.self))
        },
        Change("base64 of the payload", "payload-not-json") { Data($0.base64EncodedString().utf8) },
        Change("a line of the queue instead of its payload", "payload-wrapped") { payload in
            try Relay.data(["device": "7f", "payload": try Relay.object(payload), "token": "00"])
        },
        Change("everything under data", "payload-wrapped") { try Relay.data(["data": try Relay.object($0)]) },
        Change("pushcrypt under data", "envelope-changed") { payload in
            try Relay.rebuilt(payload) { $0["data"] = ["pushcrypt": $0.removeValue(forKey: "pushcrypt")] }
        },
        Change("pushcrypt as a string under data", "envelope-changed") { payload in
            try Relay.rebuilt(payload) { root in
                let text = String(decoding: try Relay.data(root.removeValue(forKey: "pushcrypt") as Any), as: UTF8.self)
                root["data"] = ["pushcrypt": text]
            }
        },
        Change("the members of pushcrypt at the top", "envelope-changed") { payload in
            try Relay.rebuilt(payload) { root in
                let envelope = root.removeValue(forKey: "pushcrypt") as? [String: Any] ?? [:]
                root.merge(envelope) { $1 }
            }
        },
        Change("pushcrypt as a string", "envelope-changed") { payload in
            try Relay.rebuilt(payload) { root in
                root["pushcrypt"] = String(decoding: try Relay.data(try #require(root["pushcrypt"])), as: UTF8.self)
            }
        },
        Change("pushcrypt removed", "not-sealed") { try Relay.rebuilt($0) { $0["pushcrypt"] = nil } },
        Change("numbers as strings", "envelope-changed") { payload in
            let text = String(decoding: payload, as: UTF8.self)
            return Data(text.replacing("\"v\":1", with: "\"v\":\"1\"").utf8)
        },
        Change("mutable-content as true", "mutable-content-missing") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = true }
        },
        Change("a decimal version", "envelope-changed") { payload in
            Data(String(decoding: payload, as: UTF8.self).replacing("\"v\":1", with: "\"v\":1.0").utf8)
        },
        Change("kid removed", "envelope-changed") { try Relay.changing($0, "pushcrypt") { $0["kid"] = nil } },
        Change("kid cut", "envelope-changed") { payload in
            try Relay.changing(payload, "pushcrypt") { $0["kid"] = String((($0["kid"] as? String) ?? "").prefix(8)) }
        },
        Change("a newer version", "version-unsupported") { try Relay.changing($0, "pushcrypt") { $0["v"] = 2 } },
        Change("standard base64", "sealed-changed") { payload in
            try Relay.sealed(payload) { sealed in
                let standard = sealed.replacing("-", with: "+").replacing("_", with: "/")
                return standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
            }
        },
        Change("padding", "sealed-changed") { payload in
            try Relay.sealed(payload) { $0 + String(repeating: "=", count: $0.count % 4 == 0 ? 1 : 4 - $0.count % 4) }
        },
        Change("line breaks", "sealed-changed") { payload in
            try Relay.sealed(payload) { sealed in
                stride(from: 0, to: sealed.count, by: 76).map { String(sealed.dropFirst($0).prefix(76)) }
                    .joined(separator: "\r\n")
            }
        },
        Change("codes for an address", "sealed-changed") { payload in
            try Relay.sealed(payload) { $0.replacing("-", with: "%2B").replacing("_", with: "%2F") + "%3D" }
        },
        Change("an empty sealed", "sealed-changed") { try Relay.sealed($0) { _ in "" } },
        Change("sealed as an array of bytes", "sealed-changed") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = [1, 2, 3] }
        },
        Change("sealed as a Buffer of Node", "sealed-changed") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = ["type": "Buffer", "data": [1, 2, 3]] }
        },
        Change("sealed in hexadecimal", "sealed-changed") { payload in
            try Relay.sealed(payload) { sealed in
                let bytes = Base64URL.decode(Array(sealed.utf8)[...]) ?? []
                return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
        },
        Change("sealed in lower case", "sealed-changed") { try Relay.sealed($0) { $0.lowercased() } },
        Change("sealed in upper case", "sealed-changed") { try Relay.sealed($0) { $0.uppercased() } },
        Change("typographic dashes in sealed", "sealed-changed") {
            try Relay.sealed($0) { $0.replacing("-", with: "–") }
        },
        Change("pushcrypt as a plain string", "envelope-changed") {
            try Relay.rebuilt($0) { $0["pushcrypt"] = "SECRET" }
        },
        Change("a line of seal --batch", "payload-wrapped") { payload in
            let summary: [String: Any] = ["line": 1, "id": "x", "expiresAt": 1_900_000_000]
            return try Relay.data(["payload": try Relay.object(payload), "to": "x", "pushcrypt": summary])
        },
        Change("an array", "payload-not-json") { _ in Data("[1]".utf8) },
        Change("sealed shortened by a log", "payload-truncated") { payload in
            try Relay.sealed(payload) { $0.prefix(100) + "..." }
        },
        Change("sealed reduced to some characters", "payload-truncated") {
            try Relay.sealed($0) { String($0.prefix(16)) }
        },
        Change("aps removed", "alert-missing") { try Relay.rebuilt($0) { $0["aps"] = nil } },
        Change("aps as a string", "alert-missing") { payload in
            try Relay.rebuilt(payload) { $0["aps"] = String(decoding: try Relay.data($0["aps"] ?? ""), as: UTF8.self) }
        },
        Change("mutable-content removed", "mutable-content-missing") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = nil }
        },
        Change("mutable-content 0", "mutable-content-missing") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = 0 }
        },
        Change("mutable_content next to aps", "mutable-content-missing") { payload in
            let moved = try Relay.changing(payload, "aps") { $0["mutable-content"] = nil }
            return try Relay.rebuilt(moved) { $0["mutable_content"] = true }
        },
        Change("alert removed", "alert-missing") { try Relay.changing($0, "aps") { $0["alert"] = nil } },
        Change("a background push", "alert-missing") { payload in
            try Relay.changing(payload, "aps") { $0 = ["content-available": 1, "mutable-content": 1] }
        },
        Change("members that a relay adds", "payload-too-large") { payload in
            try Relay.rebuilt(payload) { $0["trace"] = String(repeating: "x", count: 4_000) }
        },
        Change("a member twice", "payload-not-json") { payload in
            Data(
                String(decoding: payload, as: UTF8.self).replacing("\"pushcrypt\":", with: "\"aps\":{},\"pushcrypt\":")
                    .utf8)
        },
    ]
}
