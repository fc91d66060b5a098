import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptHPKE
import PushCryptNotifications
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// What senders of one's own get wrong inside the sealed message.
@Suite("diagnose: the sealed message", .ownThreads)
struct DiagnoseMessageTests {
    private static let start = InstalledApp.start.seconds

    /// A message to the app's key, sealed by a sender that checks nothing.
    private func seal(_ app: InstalledApp, alert: String = #""x""#, header: String) throws -> Data {
        let recipient = try Recipient(jwk: [UInt8](app.record()))
        let message = #"{"aps":{"alert":\#(alert)},"pushcrypt":{"id":"AAAAAAAAAAAAAAAAAAAAAA",\#(header)}}"#
        let sealed = try Envelope.seal(
            Array(message.utf8), to: recipient, signer: nil, topic: Topic(InstalledApp.topic))
        return payload(sealed, kid: recipient.kid)
    }

    private func payload(_ sealed: [UInt8], kid: KeyID, skid: KeyID? = nil) -> Data {
        let frame = OuterFrame(placeholder: Array(#"{"title":"New message"}"#.utf8), exposed: [], kid: kid, skid: skid)
        return Data(frame.payload(sealed: sealed))
    }

    private static let times = #""iat":\#(start),"exp":\#(start + 60)"#

    @Test(
        "a message that isn't what sealing makes: the evidence names the rule",
        arguments: [
            (#""iat":\#(start),"exp":\#(start + 60 * 86_400)"#, "5184000 seconds after"),
            (#""iat":\#(start),"exp":\#(start)"#, "0 seconds after"), (#""iat":"now","exp":1"#, "must be integers"),
            (times + #","test":1"#, "attachments, offload or test"),
            (times + #","quiet":"yes""#, "retract, quiet or badge"),
        ])
    func flaw(_ header: String, _ rule: String) async throws {
        let app = try await InstalledApp()
        let push = try seal(app, header: header)
        #expect(await app.fail(push).failure == .malformed)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == ["message-malformed"], "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.contains { $0.contains(rule) }, "\(diagnosed.text)")
    }

    @Test("an instruction of a wrong type in the base profile is ignored, as on the device")
    func baseProfile() async throws {
        let app = try await InstalledApp(.init(withPSK: false))
        let push = try seal(app, header: Self.times + #","quiet":"yes""#)
        await app.succeed(push)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
    }

    @Test("a sealed alert of white space isn't shown, and the evidence says so")
    func invisible() async throws {
        let app = try await InstalledApp()
        let push = try seal(app, alert: #"{"body":" "}"#, header: Self.times)
        #expect(await app.fail(push).failure == .malformed)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == ["message-malformed"], "\(diagnosed.text)")
        #expect(
            diagnosed.first.evidence == [
                "the sealed message: it isn't a JSON object with an aps.alert whose text has a visible character"
            ])
    }

    @Test("a sealed alert that has only keys of the app's texts gets a note")
    func textsByKey() async throws {
        let app = try await InstalledApp()
        let push = try seal(app, alert: #"{"loc-key":"NEW"}"#, header: Self.times)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.found.map(\.name) == ["texts-by-key"], "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.contains { $0.hasPrefix("the sealed message") }, "\(diagnosed.text)")
    }

    @Test("an http address is a warning in the sealed message, and nothing in the visible payload")
    func insecureAddress() async throws {
        let app = try await InstalledApp()
        let outer = try Relay.rebuilt(app.seal()) { $0["image"] = "http://example.com/x.jpg" }
        await app.succeed(outer)
        #expect(try app.diagnose(outer).found.isEmpty)
        let inner = try app.seal(custom: ["image": "http://example.com/x.jpg"])
        await app.succeed(inner)
        let diagnosed = try app.diagnose(inner, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == [] && diagnosed.warnings == ["attachment-over-http"], "\(diagnosed.text)")
    }

    @Test("a whole message with a usual length, sealed for a topic that isn't tried: the causes are named, not a cut")
    func usualLength() async throws {
        let app = try await InstalledApp()
        func seal(_ filler: Int) throws -> (push: Data, count: Int) {
            let push = try app.seal(
                topic: "org.elsewhere", options: .init(padding: .none),
                custom: ["filler": String(repeating: "x", count: filler)])
            return (push, (try Payload.string("pushcrypt.sealed", of: push) ?? "").count)
        }
        let (push, length) = try seal(Base64URL.decodedCapacity(512) - Base64URL.decodedCapacity(try seal(0).count))
        try #require(length == 512)
        let diagnosed = try app.diagnose(push, "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.found.map(\.name) == ["undecryptable"], "\(diagnosed.text)")
        #expect(diagnosed.first.cause.contains("another topic"), "\(diagnosed.text)")
        #expect(diagnosed.first.evidence.contains { $0.contains("512 characters, a usual limit") })
    }

    /// A sender of one's own that signs with a wrong signature: 64 zero bytes.
    @Test("a push with a wrong signature opens with the keys, and --trust shows that the device refuses it")
    func wrongSignature() async throws {
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let set = try Keyset([Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0)))])
            .publicKeyset(keepingPSK: false)
        let app = try await InstalledApp(
            .init(suite: .x25519, withPSK: false, senders: .pinned(TrustedSenders(set))))
        let kid = try #require(app.keyring.keyIDs().first)
        guard case .recipient(let publicKey, _, _) = try app.keyring.load(kid).record.material else { return }
        func prefixed(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }
        let info =
            Array("pushcrypt/1".utf8) + [0, 2, 2] + prefixed("\(kid)") + prefixed("\(record.kid)")
            + prefixed(InstalledApp.topic)
        let message = #"{"aps":{"alert":"x"},"pushcrypt":{"id":"AAAAAAAAAAAAAAAAAAAAAA",\#(Self.times)}}"#
        let plaintext = [UInt8](repeating: 0, count: 64) + message.utf8
        var sealed: [UInt8] = []
        try HPKE(kem: .dhkemX25519, aead: .aes128GCM, backend: DefaultBackend.shared)
            .seal(plaintext.bytes, to: publicKey, info: info.bytes, appendingTo: &sealed)
        let push = payload(sealed, kid: kid, skid: record.kid)
        #expect(await app.fail(push).failure == .undecryptable)
        let trust = try app.write(Data(set.jwkSet(withHistory: false)), to: "senders.json")
        try app.writeReport()
        let inputs = ["--keys", try app.keyFile(), "--topic", InstalledApp.topic]
        for more in [["--trust", trust], ["--trust", trust, "--report", "report.json"]] {
            let diagnosed = try Diagnosed(app.place, push, inputs + more, at: app.clock.time)
            #expect(diagnosed.errors == ["signature-invalid"], "\(diagnosed.text)")
        }
        let unverified = try Diagnosed(app.place, push, inputs, at: app.clock.time)
        #expect(unverified.found.isEmpty && !unverified.checked.contains("opens"), "\(unverified.text)")
        #expect(unverified.notChecked.contains("whether its signature is valid"), "\(unverified.text)")
        let counted = try Diagnosed(app.place, push, inputs + ["--report", "report.json"], at: app.clock.time)
        #expect(counted.errors == ["undecryptable"], "\(counted.text)")
        #expect(counted.first.cause.contains("signature"), "\(counted.text)")
    }
}
