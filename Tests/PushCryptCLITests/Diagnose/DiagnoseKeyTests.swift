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
        // The right record, and a push that was sealed to it.
        let stored = try app.write(other.record(), to: "other.json")
        let warned = try app.diagnose(app.seal(), "--registration", stored, "--report", "report.json")
        #expect(warned.errors == [] && warned.warnings.contains("key-not-on-device"), "\(warned.text)")
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
            try app.identity.confirmRegistered(app.identity.rotate().kid)
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
        let stripped = try Relay.rebuilt(app.record()) { $0["psk"] = nil }
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

    @Test("a backend that stored the published set of a device's keyset: nothing can be sealed to it")
    func publishedSetRegistered() throws {
        let place = try Workplace()
        try place.create("Keys/phone", "recipient", "--psk")
        try place.export("Keys/phone", to: "record.json", "--registration")
        try place.export("Keys/phone", to: "public.json")
        let push = try place.sealed(to: "record.json")
        #expect(try place.seal(to: "public.json").exit == 65)
        let time = try #require(UnixTime(rfc3339: Workplace.now))
        let diagnosed = try Diagnosed(place, push, ["--registration", "public.json"], at: time)
        #expect(diagnosed.names == ["psk-differs"], "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.contains { $0.contains("it is the published set") }, "\(diagnosed.text)")
        #expect(try Diagnosed(place, push, ["--registration", "record.json"], at: time).found.isEmpty)
    }

    @Test("a device whose own storage dropped the psk, and a backend with another psk", arguments: [true, false])
    func pskDiffers(isLost: Bool) async throws {
        let (app, other) = try await (InstalledApp(), InstalledApp())
        var record = try app.record()
        if isLost {
            // A migration that knows only the members of RFC 7517.
            let file = try app.keyFile()
            let stored = try Relay.object(app.place.read(file))
            let key = try #require((stored["keys"] as? [[String: Any]])?.first).filter { $0.key != "psk" }
            try app.place.write(Relay.data(["keys": [key]]), to: file)
        } else {
            let foreign = try #require(Relay.object(other.record())["psk"])
            record = try Relay.rebuilt(record) { $0["psk"] = foreign }
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
        var padded = try Relay.object(record)
        padded["psk"] = (padded["psk"] as? String ?? "") + "="
        let cases: [(Data, String)] = try [
            (record.prefix(191), "ends"), (Relay.data(padded), "standard or padded base64"),
            (Data([0xEF, 0xBB, 0xBF]) + record, "byte order mark"), (Relay.rebuilt(record) { $0["y"] = nil }, "y"),
            (Relay.data(String(decoding: record, as: UTF8.self)), "encoded twice"),
        ]
        let plain = Data(#"{"aps":{"alert":{"title":"New message"},"mutable-content":1}}"#.utf8)
        for (stored, words) in cases {
            #expect(throws: (any Error).self) { try Recipient(jwk: [UInt8](stored)) }
            let file = try app.write(stored, to: "record.json")
            // A backend may send a plain push if it can't seal.
            for push in [try app.seal(), plain] {
                let diagnosed = try app.diagnose(push, "--registration", file)
                #expect(diagnosed.cause == "registration-unreadable", "\(diagnosed.text)")
                #expect(diagnosed.first.evidence.joined().contains(words), "\(words): \(diagnosed.text)")
            }
        }
    }

    @Test("a private key as the record")
    func privateKey() async throws {
        let app = try await InstalledApp()
        let key = try #require((Relay.object(app.place.read(app.keyFile()))["keys"] as? [Any])?.first)
        let file = try app.write(Relay.data(key), to: "private.json")
        #expect(try app.diagnose(app.seal(), "--registration", file).errors == ["private-key-registered"])
    }

    @Test("a record with another psk than the push was sealed with isn't that of the push", arguments: [true, false])
    func otherRecord(hasPSK: Bool) async throws {
        let (app, other) = (try await InstalledApp(), try await InstalledApp())
        let push = try app.seal()
        await app.succeed(push)
        let foreign = try hasPSK ? Relay.object(other.record())["psk"] : nil
        let record = try Relay.rebuilt(app.record()) { $0["psk"] = foreign }
        let diagnosed = try Diagnosed(
            app.place, push, ["--registration", app.write(record, to: "record.json")] + opening(app), at: app.clock.time
        )
        #expect(diagnosed.names == ["inputs-contradict"], "\(diagnosed.text)")
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
        let seen = diagnosed.first.evidence.joined()
        for kid in try app.keyring.keyIDs() + other.keyring.keyIDs() { #expect(seen.contains(kid.description)) }
    }

    // MARK: The topic

    @Test(
        "a backend that seals for another topic",
        arguments: ["com.example.app.beta", "com.example", "com.Example.App", InstalledApp.extensionID])
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
        try app.writeReport()
        let counted = try app.diagnose(push, "--report", "report.json")
        #expect(counted.cause == "undecryptable" && counted.first.cause.contains("topic"), "\(counted.text)")
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
        let placeholder = try app.diagnose(Data(#require(reception.content?.userInfo)))
        #expect(placeholder.names == ["undecryptable"], "\(placeholder.text)")
        for cause in ["changed", "another topic", "psk", "signature"] {
            #expect(placeholder.first.cause.contains(cause))
        }
    }

    @Test(
        "a message that wasn't sealed by the library isn't a notification",
        arguments: [
            #"{"text":"\#(InstalledApp.body)"}"#, #"{"aps":{"alert":"x"},"pushcrypt":{"id":"x","iat":1,"exp":2}}"#,
        ])
    func notAMessage(_ message: String) async throws {
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
        let now = InstalledApp.start
        let sealer = try Sealer(topic: Self.topic, clock: { now })
        func seal(_ keys: Keyset) throws -> Data {
            try sealer.seal(PushNotification(title: "Hi"), to: keys.recipient(at: now), placeholder: .standard).json
        }
        func write(_ keys: Keyset, to name: String) throws {
            try place.write(Data(keys.jwkSet(withHistory: false)), to: name)
        }
        let (own, other) = (try master.device(DeviceID("phone-1")), try master.device(DeviceID("phone-2")))
        try write(master, to: "master")
        try write(own, to: "own")
        try write(other, to: "other")
        func names(_ push: Data, _ inputs: String...) throws -> [String] {
            let diagnosed = try Diagnosed(place, push, ["--topic", Self.topic] + inputs, at: now)
            return diagnosed.found.map { "\($0.severity) \($0.name)" }
        }
        let wrongDevice = "error sealed-to-another-device"
        #expect(try names(seal(own), "--keys", "own") == [])
        #expect(try names(seal(own), "--keys", "master", "--registration", "own") == [])
        #expect(try names(seal(master), "--keys", "master", "--registration", "own") == [wrongDevice])
        #expect(try names(seal(other), "--keys", "master", "--registration", "own") == ["error undecryptable"])
        #expect(try names(seal(own), "--keys", "master") == ["warning sealed-to-another-device"])
        #expect(try names(seal(own), "--registration", "master") == ["warning sealed-to-another-device"])
        #expect(
            try names(seal(other), "--keys", "own", "--registration", "other") == [
                "error inputs-contradict", wrongDevice,
            ])
    }
}
