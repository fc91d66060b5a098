import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Keys of the device and the backend that don't fit together.
@Suite("diagnose: keys and topics", .ownThreads)
struct DiagnoseKeyTests {
    private static let topic = InstalledApp.topic

    private func opening(_ app: InstalledApp) throws -> [String] {
        ["--keys", try app.keyFile(), "--topic", Self.topic]
    }

    @Test("a push to the token of one device with the key of another")
    func otherDevice() async throws {
        let (app, other) = try await (InstalledApp(), InstalledApp())
        let push = try app.seal(to: other.record())
        #expect(await app.fail(push).failure == .unknownKey)
        try app.writeReport()
        let record = ["--registration", try app.write(app.record(), to: "record.json")]
        let report = ["--report", "report.json"]
        for inputs in [record, report, record + report, try opening(app)] {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.cause == "key-not-on-device", "\(diagnosed.text)")
            #expect(diagnosed.first.advice.contains("device token and record together"), "\(diagnosed.text)")
        }
    }

    @Test("a user who signed out, or whose key the device has lost since it was registered", arguments: [true, false])
    func lost(isSignedOut: Bool) async throws {
        let app = try await InstalledApp()
        let record = try app.record()
        let push = try app.seal(to: record)
        if isSignedOut {
            try app.identity.eraseAll()
        } else {
            let file = try app.keyFile()
            try app.place.write(app.place.read(file).prefix(100), to: file)
        }
        #expect(await app.fail(push).failure == .unknownKey)
        try app.writeReport()
        for inputs in [[], ["--registration", try app.write(record, to: "record.json")]] {
            let diagnosed = try Diagnosed(app.place, push, ["--report", "report.json"] + inputs, at: app.clock.time)
            #expect(diagnosed.cause == "key-not-on-device", "\(diagnosed.text)")
            let seen = isSignedOut ? "the device has no key" : "is damaged"
            #expect(diagnosed.first.evidence.joined().contains(seen), "\(diagnosed.text)")
        }
    }

    @Test("a key of the device that was revoked or has expired", arguments: [true, false])
    func ended(isRevoked: Bool) async throws {
        let app = try await InstalledApp()
        let old = try app.record()
        let kid = try #require(app.keyring.keyIDs().first)
        if isRevoked {
            try app.identity.revoke(kid)
        } else {
            try app.identity.confirmRegistered(app.identity.rotate())
            app.clock.advance(by: .seconds(40 * 86_400))
        }
        let push = try app.seal(to: old)
        #expect(await app.fail(push).failure == (isRevoked ? .keyRevoked : .keyExpired))
        try app.writeReport()
        let file = "keys/\(kid).jwks.json"
        for inputs in [["--report", "report.json"], ["--keys", file, "--topic", Self.topic]] {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.cause == "key-ended", "\(diagnosed.text)")
            #expect(diagnosed.first.evidence.joined().contains(isRevoked ? "revoked" : "expired"), "\(diagnosed.text)")
        }
    }

    // MARK: The psk

    @Test("a backend that stored the public key without its psk", arguments: [Suite.p256, .x25519])
    func publicKeyRegistered(_ suite: Suite) async throws {
        let app = try await InstalledApp(.init(suite: suite))
        let stripped = try Payload.rebuilt(app.record()) { $0["psk"] = nil }
        let push = try app.seal(to: stripped)
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport()
        let record = ["--registration", try app.write(stripped, to: "record.json")]
        for inputs in [record + ["--report", "report.json"], try opening(app)] {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.cause == "psk-differs", "\(diagnosed.text)")
        }
        let alone = try Diagnosed(app.place, push, record, at: app.clock.time)
        #expect(alone.errors == [] && alone.warnings == ["psk-differs"], "\(alone.text)")
    }

    @Test("a device whose own storage dropped the psk, and a backend with another psk", arguments: [true, false])
    func pskDiffers(isLost: Bool) async throws {
        let (app, other) = try await (InstalledApp(), InstalledApp())
        var record = try app.record()
        if isLost {
            // A migration that knows only the members of RFC 7517.
            let file = try app.keyFile()
            let stored = try Payload.object(app.place.read(file))
            let key = try #require((stored["keys"] as? [[String: Any]])?.first).filter { $0.key != "psk" }
            try app.place.write(Payload.data(["keys": [key]]), to: file)
        } else {
            let foreign = try #require(Payload.object(other.record())["psk"])
            record = try Payload.rebuilt(record) { $0["psk"] = foreign }
        }
        let push = try app.seal(to: record)
        #expect(await app.fail(push).failure == .undecryptable)
        let diagnosed = try Diagnosed(
            app.place, push, ["--registration", app.write(record, to: "record.json")] + opening(app), at: app.clock.time
        )
        #expect(diagnosed.cause == "psk-differs", "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains(isLost ? "has lost" : "different pre-shared keys"), "\(diagnosed.text)")
    }

    // MARK: The record

    @Test("a record that can't be read: the backend can't seal to it, and the evidence names why")
    func unreadableRecord() async throws {
        let app = try await InstalledApp()
        let record = try app.record()
        var padded = try Payload.object(record)
        padded["psk"] = (padded["psk"] as? String ?? "") + "="
        let cases: [(Data, String)] = try [
            (record.prefix(191), "ends"), (Payload.data(padded), "standard or padded base64"),
            (Data([0xEF, 0xBB, 0xBF]) + record, "byte order mark"), (Payload.rebuilt(record) { $0["y"] = nil }, "y"),
            (Payload.data(String(decoding: record, as: UTF8.self)), "encoded twice"),
        ]
        for (stored, words) in cases {
            let diagnosed = try app.diagnose(app.seal(), "--registration", app.write(stored, to: "record.json"))
            #expect(diagnosed.cause == "registration-unreadable", "\(diagnosed.text)")
            #expect(diagnosed.first.evidence.joined().contains(words), "\(words): \(diagnosed.text)")
        }
    }

    @Test("a private key as the record")
    func privateKey() async throws {
        let app = try await InstalledApp()
        let key = try #require((Payload.object(app.place.read(app.keyFile()))["keys"] as? [Any])?.first)
        let file = try app.write(Payload.data(key), to: "private.json")
        #expect(try app.diagnose(app.seal(), "--registration", file).errors == ["private-key-registered"])
    }

    @Test("a report of another phone than the keys and the record: the inputs contradict each other")
    func otherReport() async throws {
        let (app, other) = (try await InstalledApp(), try await InstalledApp())
        let push = try app.seal()
        await app.succeed(push)
        try other.writeReport()
        let report = try app.write(other.place.read("report.json"), to: "report.json")
        let diagnosed = try Diagnosed(app.place, push, ["--report", report] + opening(app), at: app.clock.time)
        #expect(diagnosed.cause == "inputs-contradict", "\(diagnosed.text)")
    }

    // MARK: The topic

    @Test(
        "a backend that seals for another topic",
        arguments: ["com.example", "com.Example.App", InstalledApp.extensionID])
    func otherTopic(_ topic: String) async throws {
        let app = try await InstalledApp()
        let push = try app.seal(topic: topic)
        #expect(await app.fail(push).failure == .undecryptable)
        let tried = try Diagnosed(app.place, push, opening(app), at: app.clock.time)
        // Without another input that names it, a topic with other capital letters isn't tried.
        let isTried = topic.lowercased() == topic || topic == InstalledApp.extensionID
        #expect(tried.cause == (isTried ? "topic-wrong" : "undecryptable"), "\(tried.text)")
        #expect(tried.first.evidence.joined().contains("opens with the topic \(topic)") == isTried, "\(tried.text)")
        let headers = try app.write(Data(#"{"apns-topic":"\#(topic)","apns-push-type":"alert"}"#.utf8), to: "h.json")
        let known = try Diagnosed(app.place, push, opening(app) + ["--headers", headers], at: app.clock.time)
        #expect(known.cause == "topic-wrong", "\(known.text)")
    }

    @Test("an extension that uses its own bundle identifier as the topic")
    func extensionUsesOwnTopic() async throws {
        let app = try await InstalledApp(.init(topic: InstalledApp.extensionID))
        let push = try app.seal()
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport(topic: InstalledApp.extensionID)
        for inputs in [[], ["--topic", Self.topic]] {
            let diagnosed = try Diagnosed(app.place, push, ["--report", "report.json"] + inputs, at: app.clock.time)
            #expect(diagnosed.cause == "topic-wrong", "\(diagnosed.text)")
            #expect(diagnosed.first.advice.contains("Bundle.main"), "\(diagnosed.text)")
        }
    }

    // MARK: The message

    @Test("an altered ciphertext: the cause names what is possible, and an unrelated error doesn't hide it")
    func altered() async throws {
        let app = try await InstalledApp()
        let push = try Payload.tampered(app.seal())
        let reception = await app.fail(push)
        #expect(reception.failure == .undecryptable)
        let headers = try app.write(Data(#"{"apns-topic":"com.example.app"}"#.utf8), to: "h.json")
        for (inputs, errors) in [
            ([], ["undecryptable"]), (["--headers", headers], ["header-wrong", "undecryptable"]),
        ] {
            let diagnosed = try Diagnosed(app.place, push, opening(app) + inputs, at: app.clock.time)
            #expect(diagnosed.errors == errors, "\(diagnosed.text)")
        }
        #expect(try app.diagnose(Data(#require(reception.content?.userInfo))).names == ["undecryptable"])
    }

    @Test("a message that wasn't sealed by the library isn't a notification")
    func notAMessage() async throws {
        let message = #"{"text":"\#(InstalledApp.body)"}"#
        let app = try await InstalledApp()
        let recipient = try Recipient(jwk: [UInt8](app.record()))
        let sealed = try Envelope.seal(Array(message.utf8), to: recipient, signer: nil, topic: Topic(Self.topic))
        let frame = OuterFrame(
            placeholder: Array(#"{"title":"New message"}"#.utf8), exposed: [], kid: recipient.kid, skid: nil)
        let push = Data(frame.payload(sealed: sealed))
        #expect(await app.fail(push).failure == .malformed)
        let diagnosed = try Diagnosed(app.place, push, opening(app), at: app.clock.time)
        #expect(diagnosed.errors == ["message-malformed"], "\(diagnosed.text)")
    }

    // MARK: Shared keys

    @Test("a shared key: pushes to it, to this device and to another one")
    func sharedKey() throws {
        let place = try Workplace()
        let record = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        let master = try Keyset([Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0)))])
        let (own, other) = (try master.device(DeviceID("phone-1")), try master.device(DeviceID("phone-2")))
        for (name, keys) in [("master", master), ("own", own), ("other", other)] {
            try place.write(Data(keys.jwkSet(withHistory: false)), to: name)
        }
        let now = InstalledApp.start
        let sealer = try Sealer(topic: Self.topic, clock: { now })
        for (keys, inputs, found) in [
            (own, ["--keys", "master", "--registration", "own"], []),
            (master, ["--keys", "master", "--registration", "own"], ["error sealed-to-another-device"]),
            (other, ["--keys", "master", "--registration", "own"], ["error undecryptable"]),
            (own, ["--keys", "master"], ["warning sealed-to-another-device"]),
            (own, ["--registration", "master"], ["warning sealed-to-another-device"]),
        ] {
            let push = try sealer.seal(
                PushNotification(title: "Hi"), to: keys.recipient(at: now), placeholder: .standard)
            let diagnosed = try Diagnosed(place, push.json, ["--topic", Self.topic] + inputs, at: now)
            #expect(diagnosed.found.map { "\($0.severity) \($0.name)" } == found, "\(inputs) \(diagnosed.text)")
        }
    }
}
