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

    @Test(
        "what APNs answers, given as the payload, is recognized: the body, and all that curl -i prints",
        arguments: [
            #"{"reason":"BadDeviceToken"}"#, "HTTP/2 400 \r\napns-id: 9D9E5C5B\r\n\r\n{\"reason\":\"BadDeviceToken\"}",
            "HTTP/2 200 \r\napns-id: 9D9E5C5B\r\n\r\n",
        ])
    func answer(_ text: String) throws {
        let diagnosed = try Diagnosed(Workplace(), Data(text.utf8), [], at: UnixTime(1_800_000_000))
        #expect(diagnosed.errors == ["payload-is-answer"], "\(diagnosed.text)")
    }

    @Test("sealed that is cut off has one cause, whether it is certain or only likely") func oneCause() async throws {
        let app = try await InstalledApp()
        let causes = try [256, 40].map { count in
            try app.diagnose(Relay.sealed(app.seal()) { String($0.prefix(count)) }).found
                .first { $0.name == "sealed-truncated" }?.cause
        }
        #expect(causes[0] != nil && causes[0] == causes[1])
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
        #expect(object.first.advice.contains("a string in \"APNS\""), "\(object)")
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
        #expect(diagnosed.first.evidence.contains { $0.hasSuffix(words) }, "\(diagnosed)")
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
