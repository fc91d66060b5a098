import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Payloads that something changed between the sealer and the device.
@Suite("diagnose: the payload", .ownThreads)
struct DiagnosePayloadTests {
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
        Change("empty", "payload-empty") { _ in Data() },
        Change("cut after 255 bytes", "payload-truncated") { $0.prefix(255) },
        Change("printed by Python", "payload-not-json") { payload in
            Data(String(decoding: payload, as: UTF8.self).replacing("\"", with: "'").utf8)
        },
        Change("UTF-16", "payload-utf16") { payload in
            try #require(String(decoding: payload, as: UTF8.self).data(using: .utf16LittleEndian))
        },
        Change("UTF-16 with a byte order mark", "payload-utf16") { payload in
            try #require(String(decoding: payload, as: UTF8.self).data(using: .utf16))
        },
        Change("a byte order mark", "payload-byte-order-mark") { Data([0xef, 0xbb, 0xbf]) + $0 },
        Change("Latin-1", "payload-not-utf8") { payload in
            let text = String(decoding: payload, as: UTF8.self).replacing("New message", with: "Nouvelle à lire")
            return try #require(text.data(using: .isoLatin1))
        },
        Change("JSON in a JSON string", "payload-encoded-twice") { payload in
            try Relay.data(String(decoding: payload, as: UTF8.self))
        },
        Change("JSON in a JSON string in a JSON string", "payload-encoded-twice") { payload in
            let once = try Relay.data(String(decoding: payload, as: UTF8.self))
            return try Relay.data(String(decoding: once, as: UTF8.self))
        },
        Change("base64 of the payload", "payload-base64") { Data($0.base64EncodedString().utf8) },
        Change("a line of the queue instead of its payload", "payload-wrapped") { payload in
            try Relay.data(["device": "7f", "payload": try Relay.object(payload), "token": "00"])
        },
        Change("everything under data", "payload-wrapped") { try Relay.data(["data": try Relay.object($0)]) },
        Change("pushcrypt under data", "envelope-moved") { payload in
            try Relay.rebuilt(payload) { $0["data"] = ["pushcrypt": $0.removeValue(forKey: "pushcrypt")] }
        },
        Change("pushcrypt under custom.a", "envelope-moved") { payload in
            try Relay.rebuilt(payload) {
                $0["custom"] = ["i": "1", "a": ["pushcrypt": $0.removeValue(forKey: "pushcrypt")]]
            }
        },
        Change("pushcrypt in aps", "envelope-moved") { payload in
            let envelope = try Relay.object(payload)["pushcrypt"]
            return try Relay.changing(Relay.rebuilt(payload) { $0["pushcrypt"] = nil }, "aps") {
                $0["pushcrypt"] = envelope
            }
        },
        Change("pushcrypt as a string under data", "envelope-moved") { payload in
            try Relay.rebuilt(payload) { root in
                let text = String(decoding: try Relay.data(root.removeValue(forKey: "pushcrypt") as Any), as: UTF8.self)
                root["data"] = ["pushcrypt": text]
            }
        },
        Change("the members of pushcrypt at the top", "envelope-renamed") { payload in
            try Relay.rebuilt(payload) { root in
                let envelope = root.removeValue(forKey: "pushcrypt") as? [String: Any] ?? [:]
                root.merge(envelope) { $1 }
            }
        },
        Change("pushcrypt as a string", "envelope-is-text") { payload in
            try Relay.rebuilt(payload) { root in
                root["pushcrypt"] = String(decoding: try Relay.data(try #require(root["pushcrypt"])), as: UTF8.self)
            }
        },
        Change("pushcrypt removed", "not-sealed") { try Relay.rebuilt($0) { $0["pushcrypt"] = nil } },
        Change("numbers as strings", "numbers-changed") { payload in
            let text = String(decoding: payload, as: UTF8.self)
            return Data(text.replacing("\"v\":1", with: "\"v\":\"1\"").utf8)
        },
        Change("mutable-content as true", "numbers-changed") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = true }
        },
        Change("mutable-content as a string", "numbers-changed") { payload in
            try Relay.changing(payload, "aps") { $0["mutable-content"] = "1" }
        },
        Change("a decimal version", "numbers-changed") { payload in
            Data(String(decoding: payload, as: UTF8.self).replacing("\"v\":1", with: "\"v\":1.0").utf8)
        },
        Change("kid removed", "envelope-member-missing") { try Relay.changing($0, "pushcrypt") { $0["kid"] = nil } },
        Change("v removed", "envelope-member-missing") { try Relay.changing($0, "pushcrypt") { $0["v"] = nil } },
        Change("sealed removed", "envelope-member-missing") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = nil }
        },
        Change("kid cut", "key-id-malformed") { payload in
            try Relay.changing(payload, "pushcrypt") { $0["kid"] = String((($0["kid"] as? String) ?? "").prefix(8)) }
        },
        Change("a newer version", "version-unsupported") { try Relay.changing($0, "pushcrypt") { $0["v"] = 2 } },
        Change("standard base64", "sealed-standard-base64") { payload in
            try Relay.sealed(payload) { sealed in
                let standard = sealed.replacing("-", with: "+").replacing("_", with: "/")
                return standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
            }
        },
        Change("padding", "sealed-padded") { payload in
            try Relay.sealed(payload) { $0 + String(repeating: "=", count: $0.count % 4 == 0 ? 1 : 4 - $0.count % 4) }
        },
        Change("line breaks", "sealed-white-space") { payload in
            try Relay.sealed(payload) { sealed in
                stride(from: 0, to: sealed.count, by: 76).map { String(sealed.dropFirst($0).prefix(76)) }
                    .joined(separator: "\r\n")
            }
        },
        Change("codes for an address", "sealed-percent-encoded") { payload in
            try Relay.sealed(payload) { $0.replacing("-", with: "%2B").replacing("_", with: "%2F") + "%3D" }
        },
        Change("other codes for an address", "sealed-percent-encoded") { payload in
            try Relay.sealed(payload) { $0.replacing("-", with: "%252D").replacing("_", with: "%5F") }
        },
        Change("an empty sealed", "sealed-empty") { try Relay.sealed($0) { _ in "" } },
        Change("sealed as null", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = NSNull() }
        },
        Change("sealed as a number", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = 5 }
        },
        Change("sealed as false", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = false }
        },
        Change("sealed as an array of bytes", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = [1, 2, 3] }
        },
        Change("sealed as a Buffer of Node", "sealed-not-a-string") {
            try Relay.changing($0, "pushcrypt") { $0["sealed"] = ["type": "Buffer", "data": [1, 2, 3]] }
        },
        Change("sealed in hexadecimal", "sealed-hexadecimal") { payload in
            try Relay.sealed(payload) { sealed in
                let bytes = Base64URL.decode(Array(sealed.utf8)[...]) ?? []
                return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
        },
        Change("sealed in lower case", "sealed-case-changed") { try Relay.sealed($0) { $0.lowercased() } },
        Change("sealed in upper case", "sealed-case-changed") { try Relay.sealed($0) { $0.uppercased() } },
        Change("typographic dashes in sealed", "sealed-other-characters") {
            try Relay.sealed($0) { $0.replacing("-", with: "–") }
        },
        Change("pushcrypt as a plain string", "envelope-not-an-object") {
            try Relay.rebuilt($0) { $0["pushcrypt"] = "SECRET" }
        },
        Change("a line of seal --batch", "payload-wrapped") { payload in
            let summary: [String: Any] = ["line": 1, "id": "x", "expiresAt": 1_900_000_000]
            return try Relay.data(["payload": try Relay.object(payload), "to": "x", "pushcrypt": summary])
        },
        Change("an array", "payload-not-an-object") { _ in Data("[1]".utf8) },
        Change("a line of a log", "payload-not-json") { Data("10:31:02 sending ".utf8) + $0 },
        Change("two lines", "payload-not-json") { $0 + Data("\n".utf8) + $0 },
        Change("a dictionary as Swift prints it", "payload-not-json") { _ in
            Data("[AnyHashable(\"aps\"): {\n    alert = x;\n}]".utf8)
        },
        Change("sealed shortened by a log", "sealed-truncated") { payload in
            try Relay.sealed(payload) { $0.prefix(100) + "..." }
        },
        Change("sealed reduced to some characters", "sealed-truncated") {
            try Relay.sealed($0) { String($0.prefix(16)) }
        },
        Change("aps removed", "aps-missing") { try Relay.rebuilt($0) { $0["aps"] = nil } },
        Change("aps as a string", "aps-not-an-object") { payload in
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
        Change("an empty alert", "alert-missing") { payload in
            try Relay.changing(payload, "aps") { $0["alert"] = ["title": "", "body": ""] }
        },
        Change("a background push", "alert-missing") { payload in
            try Relay.changing(payload, "aps") { $0 = ["content-available": 1, "mutable-content": 1] }
        },
        Change("members that a relay adds", "payload-too-large") { payload in
            try Relay.rebuilt(payload) { $0["trace"] = String(repeating: "x", count: 4_000) }
        },
        Change("a member twice", "payload-duplicate-member") { payload in
            Data(
                String(decoding: payload, as: UTF8.self).replacing("\"pushcrypt\":", with: "\"aps\":{},\"pushcrypt\":")
                    .utf8)
        },
    ]

    @Test("a payload that was changed on the way isn't restored, and the change is the only error", arguments: changes)
    func change(_ change: Change) async throws {
        let app = try await InstalledApp()
        // base64url that has characters of both alphabets.
        var push = try app.seal()
        while !Self.hasBothCharacters(push) { push = try app.seal() }
        let payload = try change.apply(push)
        await app.fail(payload)
        for inputs in [[], ["--topic", InstalledApp.topic, "--keys", try app.keyFile()]] {
            let diagnosed = try Diagnosed(app.place, payload, inputs, at: app.clock.time)
            #expect(diagnosed.errors == [change.fault], "\(diagnosed.text)")
        }
    }

    @Test("sealed that was cut to a usual limit is a warning, and with keys a cause of the error")
    func cut() async throws {
        let app = try await InstalledApp()
        let push = try Relay.sealed(app.seal()) { String($0.prefix(256)) }
        await app.fail(push)
        let unknown = try app.diagnose(push)
        #expect(unknown.errors == [] && unknown.warnings == ["sealed-truncated"], "\(unknown.text)")
        let known = try app.diagnose(push, "--topic", InstalledApp.topic, "--keys", app.keyFile())
        #expect(known.found.map(\.name) == ["undecryptable"], "\(known.text)")
        #expect(known.text.contains("256 characters, a usual limit"), "\(known.text)")
    }

    @Test("the name of a member that isn't usual isn't printed: it may be content")
    func privateName() async throws {
        let app = try await InstalledApp()
        let token = String(repeating: "0f", count: 32)
        let diagnosed = try app.diagnose(Relay.data([token: Relay.object(app.seal())]))
        #expect(diagnosed.errors == ["payload-wrapped"] && !diagnosed.text.contains(token), "\(diagnosed.text)")
        let usual = try app.diagnose(Relay.data(["data": Relay.object(app.seal())]))
        #expect(usual.text.contains("are at data,"), "\(usual.text)")
    }

    @Test("version 0 isn't called a newer version")
    func versionZero() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "pushcrypt") { $0["v"] = 0 }
        let diagnosed = try app.diagnose(push)
        #expect(diagnosed.errors == ["version-unsupported"] && !diagnosed.text.contains("newer"), "\(diagnosed.text)")
        #expect(!diagnosed.text.contains("reads version 0"), "\(diagnosed.text)")
    }

    @Test("an id of a key with 11 characters that aren't canonical isn't called too short")
    func idNotCanonical() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "pushcrypt") { $0["kid"] = "k7bx0aqf3nb" }
        let diagnosed = try app.diagnose(push)
        #expect(diagnosed.errors == ["key-id-malformed"] && !diagnosed.text.contains("must be 11"), "\(diagnosed.text)")
    }

    @Test("with keys, the cause of sealed that was cut elsewhere names a cut", arguments: [320, 380])
    func cutElsewhere(_ count: Int) async throws {
        let app = try await InstalledApp()
        let push = try Relay.sealed(app.seal()) { String($0.prefix(count)) }
        await app.fail(push)
        let unknown = try app.diagnose(push)
        #expect(unknown.found.isEmpty && unknown.text.contains("is complete"), "\(unknown.text)")
        let known = try app.diagnose(push, "--topic", InstalledApp.topic, "--keys", app.keyFile())
        let found = try #require(known.found.first)
        #expect(known.errors == ["undecryptable"] && found.cause.contains("cut off"), "\(known.text)")
        #expect(found.advice.contains("--registration") && !found.advice.contains("--keys"), "\(known.text)")
    }

    @Test("a whole message whose length is a usual limit is no error", arguments: [500, 512, 1_000, 1_024])
    func naturalLength(_ count: Int) async throws {
        let app = try await InstalledApp()
        func seal(_ filler: Int) throws -> (push: Data, count: Int) {
            let push = try app.seal(
                options: .init(padding: .none), custom: ["filler": String(repeating: "x", count: filler)])
            return (push, (try Payload.string("pushcrypt.sealed", of: push) ?? "").count)
        }
        let missing = Base64URL.decodedCapacity(count) - Base64URL.decodedCapacity(try seal(0).count)
        let (push, length) = try seal(missing)
        try #require(length == count)
        await app.succeed(push)
        #expect(try app.diagnose(push).errors == [])
        #expect(try app.diagnose(push, "--topic", InstalledApp.topic, "--keys", app.keyFile()).found.isEmpty)
    }

    @Test("the advice for a text that isn't JSON names what the text is")
    func hints() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let inputs: [(Data, String)] = [
            (Data("10:31:02 sending ".utf8) + push, "line of a log"), (push + Data("\n".utf8) + push, "2 lines"),
            (Data("[AnyHashable(\"aps\"): {\n    alert = x;\n}]".utf8), "Swift's print"),
        ]
        for (input, hint) in inputs {
            let diagnosed = try app.diagnose(input)
            #expect(diagnosed.found.first?.advice.contains(hint) == true, "\(diagnosed.text)")
        }
    }

    @Test("a Buffer that Node's JSON encoder wrote is named")
    func buffer() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "pushcrypt") {
            $0["sealed"] = ["type": "Buffer", "data": [1, 2, 3]]
        }
        #expect(try app.diagnose(push).found.first?.evidence.first?.contains("Buffer") == true)
    }

    @Test("a push to a published demo key is an error, unless demo keys are accepted")
    func demoKey() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "pushcrypt") { $0["kid"] = "nMfbZ7h-wC0" }
        #expect(try app.diagnose(push).errors == ["demo-key"])
        #expect(try app.diagnose(push, "--allow-demo-keys").errors == [])
    }

    @Test("an alert that has only keys of the app's texts gets a note")
    func textsByKey() async throws {
        let app = try await InstalledApp()
        let push = try Relay.changing(app.seal(), "aps") { $0["alert"] = ["loc-key": "NEW_MESSAGE"] }
        let diagnosed = try app.diagnose(push)
        #expect(diagnosed.found.map(\.name) == ["texts-by-key"] && diagnosed.errors == [], "\(diagnosed.text)")
    }

    private static func hasBothCharacters(_ payload: Data) -> Bool {
        let sealed = (try? Payload.string("pushcrypt.sealed", of: payload)) ?? ""
        return sealed.contains("-") && sealed.contains("_")
    }

    @Test(
        "an attachment over http isn't fetched, and the address isn't printed",
        arguments: ["image_url", "attachment-url"])
    func insecureAttachment(_ member: String) async throws {
        let app = try await InstalledApp(.init(plainMembers: [member]))
        let push = try app.seal(custom: [member: "http://private.example.com/photo.jpg"])
        let reception = await app.device.receive([UInt8](push))
        #expect(reception.isRestored && reception.failure == .attachmentFailed)
        try app.writeReport()
        let diagnosed = try app.diagnose(
            push, "--topic", InstalledApp.topic, "--keys", app.keyFile(), "--report", "report.json")
        #expect(diagnosed.errors == ["attachment-over-http"] && !diagnosed.text.contains("private.example.com"))
        #expect(diagnosed.text.contains(member))
        let without = try app.diagnose(push, "--report", "report.json")
        #expect(without.errors == ["attachment-failed"], "\(without.text)")
    }

    @Test("a request to Firebase is examined at its payload for APNs, and is no error")
    func firebase() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let request: [String: Any] = [
            "message": ["token": "x", "apns": ["payload": try Relay.object(push), "headers": ["apns-priority": "10"]]]
        ]
        let diagnosed = try app.diagnose(Relay.data(request))
        #expect(diagnosed.errors.isEmpty && diagnosed.found.map(\.name) == ["request-to-firebase"])
    }

    @Test("a message to Amazon SNS is examined at its payload for APNs, which must be a string")
    func simpleNotificationService() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let text = String(decoding: push, as: UTF8.self)
        for name in ["APNS", "APNS_SANDBOX"] {
            let diagnosed = try app.diagnose(Relay.data(["default": "x", name: text]))
            #expect(diagnosed.errors.isEmpty && diagnosed.found.map(\.name) == ["message-to-sns"], "\(diagnosed)")
        }
        let object = try app.diagnose(Relay.data(["default": "x", "APNS": Relay.object(push)]))
        #expect(object.errors == ["payload-wrapped"], "\(object)")
        #expect(object.found[0].advice.contains("a string in \"APNS\""), "\(object)")
        let inner = try Relay.changing(push, "aps") { $0["mutable-content"] = nil }
        let changed = try app.diagnose(Relay.data(["default": "x", "APNS": String(decoding: inner, as: UTF8.self)]))
        #expect(changed.errors == ["mutable-content-missing"], "\(changed)")
    }

    @Test(
        "the refusal of JSON is in words",
        arguments: [
            ("more text after the JSON value", "{} x"), ("a name occurs twice in an object", #"{"a":1,"a":2}"#),
        ])
    func refusedJSON(_ words: String, _ payload: String) async throws {
        let app = try await InstalledApp()
        let diagnosed = try app.diagnose(Data(payload.utf8))
        #expect(diagnosed.found[0].evidence[0].hasSuffix(words), "\(diagnosed)")
    }

    @Test("the userInfo of a delivered placeholder is read for the reason that the extension left")
    func userInfo() async throws {
        let (app, other) = try await (InstalledApp(), InstalledApp())
        let reception = await app.fail(try other.seal())
        let userInfo = try #require(reception.content?.userInfo)
        let diagnosed = try app.diagnose(Data(userInfo))
        #expect(diagnosed.errors == ["device-counted-unknown-key"], "\(diagnosed.text)")
    }
}
