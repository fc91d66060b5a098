import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Keys of the device and the backend that don't fit together.
@Suite("diagnose: keys and topics", .ownThreads)
struct DiagnoseKeyTests {
    @Test("an extension that opens with its own bundle identifier: the report's topic is the only error")
    func extensionInReport() async throws {
        let app = try await InstalledApp(.init(topic: InstalledApp.extensionID))
        let push = try app.seal()
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport(topic: InstalledApp.extensionID)
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        #expect(diagnosed.errors == ["topic-may-be-extension"], "\(diagnosed.text)")
        #expect(diagnosed.first.advice.contains("Bundle.main"), "\(diagnosed.text)")
    }

    @Test("the extension's bundle identifier as --topic, and a push for the app: the topic is the only error")
    func extensionAsTopic() async throws {
        let app = try await InstalledApp()
        let diagnosed = try app.diagnose(
            app.seal(), "--keys", app.keyFile(), "--topic", InstalledApp.extensionID)
        #expect(diagnosed.errors == ["topic-is-extension"] && diagnosed.warnings == [], "\(diagnosed.text)")
        #expect(diagnosed.first.advice.contains("Use \(InstalledApp.topic) as the topic"), "\(diagnosed.text)")
    }

    private static let topic = InstalledApp.topic

    @Test("a push to the token of one device with the key of another")
    func otherDevice() async throws {
        let (app, other) = try await (InstalledApp(), InstalledApp())
        let push = try app.seal(to: other.record())
        #expect(await app.fail(push).failure == .unknownKey)
        try app.writeReport()
        let record = try app.write(app.record(), to: "record.json")
        #expect(try app.diagnose(push, "--registration", record).errors == ["sealed-to-another-key"])
        let both = try app.diagnose(push, "--registration", record, "--report", "report.json")
        #expect(both.errors == ["sealed-to-another-key"], "\(both.text)")
        #expect(try app.diagnose(push, "--report", "report.json").errors == ["key-not-on-device"])
        #expect(
            try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic).errors == ["sealed-to-another-key"])
    }

    @Test("a record from before a reinstallation is found from keys and record, and also with more inputs")
    func reinstalled() async throws {
        let (app, former) = try await (InstalledApp(), InstalledApp())
        let push = try app.seal(to: former.record())
        #expect(await app.fail(push).failure == .unknownKey)
        let record = try app.write(former.record(), to: "record.json")
        for more in [[], ["--topic", Self.topic], ["--trust", "none"]] {
            let inputs = ["--keys", try app.keyFile(), "--registration", record] + more
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["registered-key-not-on-device"], "\(diagnosed.text)")
        }
    }

    @Test("a record of a key that the device couldn't store, because its storage was locked")
    func madeWhileLocked() async throws {
        let app = try await InstalledApp()
        // An app that makes its key itself and uploads it before it is stored.
        let lost = try DeviceKey.generate(.p256, withPSK: true, at: app.clock.time)
        var jwk: [UInt8] = []
        try lost.record.publicRecord(keepingPSK: true).appendJWK(to: &jwk)
        let record = Data(jwk)
        let push = try app.seal(to: record)
        #expect(await app.fail(push).failure == .unknownKey)
        try app.writeReport()
        let diagnosed = try app.diagnose(
            push, "--registration", app.write(record, to: "record.json"), "--report", "report.json")
        #expect(diagnosed.errors == ["registered-key-not-on-device"], "\(diagnosed.text)")
    }

    @Test("keys that are locked, because the device wasn't unlocked since its start")
    func locked() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        app.device.restart()
        #expect(await app.fail(push).failure == .keyLocked)
        try app.writeReport(keys: LockedStorage())
        let diagnosed = try app.diagnose(push, "--report", "report.json")
        #expect(diagnosed.errors == ["key-storage-locked"], "\(diagnosed.text)")
    }

    @Test("a user who signed out: the device has no key")
    func signedOut() async throws {
        let app = try await InstalledApp()
        let record = try app.record()
        try app.identity.eraseAll()
        let push = try app.seal(to: record)
        await app.fail(push)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").errors == ["device-without-keys"])
        let diagnosed = try app.diagnose(
            push, "--report", "report.json", "--registration", app.write(record, to: "record.json"))
        #expect(diagnosed.errors == ["registered-key-not-on-device"], "\(diagnosed.text)")
    }

    @Test("a backend that stored the public key without its psk", arguments: [Suite.p256, .x25519])
    func publicKeyRegistered(_ suite: Suite) async throws {
        let app = try await InstalledApp(.init(suite: suite))
        let stripped = try Relay.rebuilt(app.record()) { $0["psk"] = nil }
        let push = try app.seal(to: stripped)
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport()
        let record = try app.write(stripped, to: "record.json")
        for inputs in [
            ["--registration", record, "--report", "report.json"],
            ["--keys", try app.keyFile(), "--topic", Self.topic],
        ] {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["psk-missing-at-backend"], "\(diagnosed.text)")
        }
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
        #expect(diagnosed.found.map(\.name) == ["psk-missing-at-backend"], "\(diagnosed.text)")
        #expect(try Diagnosed(place, push, ["--registration", "record.json"], at: time).found.isEmpty)
    }

    @Test("a device whose own storage dropped the psk")
    func pskLost() async throws {
        let app = try await InstalledApp()
        let record = try app.record()
        let file = try app.keyFile()
        let kid = try #require(app.keyring.keyIDs().first)
        // A migration that knows only the members of RFC 7517.
        let stored = try Relay.object(app.place.read(file))
        let key = try #require((stored["keys"] as? [[String: Any]])?.first).filter { $0.key != "psk" }
        try app.place.write(Relay.data(["keys": [key]]), to: file)
        let push = try app.seal(to: record)
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport()
        let name = try app.write(record, to: "record.json")
        for inputs in [["--report", "report.json"], ["--keys", file, "--topic", Self.topic]] {
            let diagnosed = try Diagnosed(
                app.place, push, ["--registration", name] + inputs, at: app.clock.time)
            #expect(diagnosed.errors == ["psk-missing-on-device"], "\(kid) \(diagnosed.text)")
        }
    }

    @Test("a backend with another psk for the same key pair")
    func pskDiffers() async throws {
        let app = try await InstalledApp()
        let other = try await InstalledApp()
        let foreign = try #require(Relay.object(other.record())["psk"])
        let record = try Relay.rebuilt(app.record()) { $0["psk"] = foreign }
        let push = try app.seal(to: record)
        #expect(await app.fail(push).failure == .undecryptable)
        let diagnosed = try app.diagnose(
            push, "--registration", app.write(record, to: "record.json"), "--keys", app.keyFile(), "--topic", Self.topic
        )
        #expect(diagnosed.errors == ["psk-differs"], "\(diagnosed.text)")
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
            #expect(diagnosed.errors == [isRevoked ? "key-revoked" : "key-expired"], "\(diagnosed.text)")
        }
        guard isRevoked else { return }
        let later = try app.diagnose(push, "--keys", file, "--topic", Self.topic, at: app.clock.time + 86_400)
        let seen = "keys: key \(kid) was revoked at \(app.clock.time)"
        #expect(later.first.evidence.contains(seen), "\(later.text)")
    }

    @Test("a damaged key file")
    func damaged() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let file = try app.keyFile()
        try app.place.write(app.place.read(file).prefix(100), to: file)
        #expect(await app.fail(push).failure == .unknownKey)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").errors == ["key-damaged"])
    }

    @Test("a record that a database has cut, and one that is a private key")
    func record() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        let cut = try app.write(app.record().prefix(191), to: "cut.json")
        #expect(throws: (any Error).self) { try Recipient(jwk: [UInt8](app.place.read(cut))) }
        #expect(try app.diagnose(push, "--registration", cut).errors == ["registration-unreadable"])
        let stored = try app.place.read(app.keyFile())
        let key = try #require((Relay.object(stored)["keys"] as? [Any])?.first)
        let secret = try app.write(Relay.data(key), to: "private.json")
        #expect(throws: KeyError.self) { try Recipient(jwk: [UInt8](app.place.read(secret))) }
        #expect(try app.diagnose(push, "--registration", secret).errors == ["private-key-registered"])
    }

    @Test(
        "a record whose psk was written in padded base64, or that begins with a byte order mark: the evidence names it")
    func recordEncoding() async throws {
        let app = try await InstalledApp()
        let push = try app.seal()
        var record = try Relay.object(app.record())
        record["psk"] = (record["psk"] as? String ?? "") + "="
        let padded = try app.write(Relay.data(record), to: "padded.json")
        let diagnosed = try app.diagnose(push, "--registration", padded)
        #expect(diagnosed.errors == ["registration-unreadable"])
        let evidence = diagnosed.found.flatMap(\.evidence).joined()
        #expect(evidence.contains("psk is not 32 bytes of base64url but standard or padded base64"), "\(evidence)")
        let marked = try app.write(Data([0xEF, 0xBB, 0xBF]) + app.record(), to: "marked.json")
        #expect(try app.diagnose(push, "--registration", marked).text.contains("with a byte order mark"))
    }

    @Test(
        "a backend that seals for another topic", arguments: ["com.example.app.beta", "com.example", "com.Example.App"])
    func otherTopic(_ topic: String) async throws {
        let app = try await InstalledApp()
        let push = try app.seal(topic: topic)
        #expect(await app.fail(push).failure == .undecryptable)
        let tried = try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic)
        // Without another input that names it, a topic with other capital letters isn't tried.
        let isTried = topic.lowercased() == topic
        #expect(tried.errors == [isTried ? "sealed-for-another-topic" : "undecryptable"], "\(tried.text)")
        let seen = tried.first.evidence.contains("the push opens with the topic \(topic)")
        #expect(seen == isTried, "\(tried.text)")
        let headers = try app.write(Data(#"{"apns-topic":"\#(topic)","apns-push-type":"alert"}"#.utf8), to: "h.json")
        let known = try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic, "--headers", headers)
        #expect(known.errors == ["topic-differs"], "\(known.text)")
        try app.writeReport()
        let counted = try app.diagnose(push, "--report", "report.json")
        #expect(counted.errors == ["undecryptable"] && counted.text.contains("topic"), "\(counted.text)")
    }

    @Test("a backend that seals for the extension's bundle identifier")
    func extensionTopic() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(topic: InstalledApp.extensionID)
        #expect(await app.fail(push).failure == .undecryptable)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic)
        #expect(diagnosed.errors == ["topic-is-extension"], "\(diagnosed.text)")
    }

    @Test("an extension that uses its own bundle identifier as the topic")
    func extensionUsesOwnTopic() async throws {
        let app = try await InstalledApp(.init(topic: InstalledApp.extensionID))
        let push = try app.seal()
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport(topic: InstalledApp.extensionID)
        let diagnosed = try app.diagnose(push, "--topic", Self.topic, "--report", "report.json")
        #expect(diagnosed.errors == ["topic-is-extension"], "\(diagnosed.text)")
    }

    @Test("an altered ciphertext: the cause names what the inputs leave, and the evidence what they exclude")
    func altered() async throws {
        let app = try await InstalledApp()
        let push = try Payload.tampered(app.seal())
        #expect(await app.fail(push).failure == .undecryptable)
        let little = try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic)
        #expect(little.errors == ["undecryptable"], "\(little.text)")
        for cause in ["changed", "another topic", "another psk", "signed"] {
            #expect(little.first.cause.contains(cause), "\(little.text)")
        }
        let all = try app.diagnose(
            push, "--keys", app.keyFile(), "--topic", Self.topic, "--trust", "none", "--registration",
            app.write(app.record(), to: "record.json"))
        let found = all.first
        #expect(found.cause.contains("changed") && found.cause.contains("another topic"), "\(all.text)")
        #expect(!found.cause.contains("psk") && !found.cause.contains("signed"), "\(all.text)")
        #expect(found.evidence.contains { $0.contains("the same psk") }, "\(all.text)")
        #expect(found.evidence.contains("trust: the app expects no signature, and the push has none"), "\(all.text)")
    }

    @Test("a message that wasn't sealed by the library isn't a notification")
    func notAMessage() async throws {
        let app = try await InstalledApp()
        let entry = try Recipient(jwk: [UInt8](app.record()))
        let sealed = try Envelope.seal(
            Array(#"{"text":"\#(InstalledApp.body)"}"#.utf8), to: entry, signer: nil, topic: Topic(Self.topic))
        let frame = OuterFrame(
            placeholder: Array(#"{"title":"New message"}"#.utf8), exposed: [], kid: entry.kid, skid: nil)
        let push = Data(frame.payload(sealed: sealed))
        #expect(await app.fail(push).failure == .malformed)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", Self.topic)
        #expect(diagnosed.errors == ["message-malformed"], "\(diagnosed.text)")
    }

    @Test("a payload and a record that were cut: no finding says that the push isn't encrypted")
    func cutPayload() async throws {
        let app = try await InstalledApp()
        let record = try app.write(app.record().prefix(191), to: "cut.json")
        let diagnosed = try app.diagnose(app.seal().prefix(300), "--registration", record)
        #expect(Set(diagnosed.errors) == ["payload-truncated", "registration-unreadable"], "\(diagnosed.text)")
        #expect(!diagnosed.text.contains("encrypted") && !diagnosed.text.contains("no member"), "\(diagnosed.text)")
    }

    @Test("a published set as the record: the evidence is a sentence")
    func publishedSetEvidence() throws {
        let place = try Workplace()
        try place.create("Keys/phone", "recipient", "--psk")
        try place.export("Keys/phone", to: "record.json", "--registration")
        try place.export("Keys/phone", to: "public.json")
        let time = try #require(UnixTime(rfc3339: Workplace.now))
        let diagnosed = try Diagnosed(
            place, place.sealed(to: "record.json"), ["--registration", "public.json"], at: time)
        #expect(diagnosed.first.evidence.contains { $0.contains("it is the published set") }, "\(diagnosed.text)")
    }

    /// An own storage of keys that doesn't work.
    @Test(
        "keys that can't be read: the finding names why",
        arguments: [("insecure", "key-storage-insecure"), ("failed", "key-storage-failed")])
    func storage(_ code: String, _ name: String) async throws {
        let app = try await InstalledApp()
        let report = DeviceReport(topic: Self.topic, unavailable: code, reason: "x", at: app.clock.time)
        try app.place.write(report.json(), to: "report.json")
        #expect(try app.diagnose(app.seal(), "--report", "report.json").errors == [name])
    }

    /// Before the first unlock.
    private struct LockedStorage: DeviceKeyStorage {
        private var error: DeviceKeyError { DeviceKeyError(.locked, "the device wasn't unlocked yet") }
        func keyIDs() throws(DeviceKeyError) -> [KeyID] { throw error }
        func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey { throw error }
        func add(_ key: DeviceKey) throws(DeviceKeyError) { throw error }
        func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) { throw error }
        func remove(_ kid: KeyID) throws(DeviceKeyError) { throw error }
    }
}
