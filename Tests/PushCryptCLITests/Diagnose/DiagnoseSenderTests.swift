import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptHPKE
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Who signed, and whom the app trusts.
@Suite("diagnose: senders", .ownThreads)
struct DiagnoseSenderTests {
    private static let always = KeyLifecycle(activatesAt: UnixTime(0))

    /// A backend's sender keyset, as the library loads it.
    private struct Backend {
        let record: KeyRecord
        var lifecycle = DiagnoseSenderTests.always

        init() throws { record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared) }

        func signer() throws -> SenderKey { try SenderKey(Keyset.Entry(record, DiagnoseSenderTests.always)) }

        /// The published set.
        func published() throws -> Keyset {
            try Keyset([Keyset.Entry(record, lifecycle)]).publicKeyset(keepingPSK: false)
        }

        func trust() throws -> SenderTrust { .pinned(try TrustedSenders(published())) }

        func write(_ app: InstalledApp) throws -> String {
            try app.write(Data(published().jwkSet(withHistory: false)), to: "senders.json")
        }
    }

    /// Diagnoses with the operator's file, with the device's report, and with both.
    private func expect(
        _ words: String, _ app: InstalledApp, _ backend: Backend?, _ push: Data,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try app.writeReport()
        let trust = try backend.map { ["--trust", try $0.write(app)] } ?? []
        for inputs in [trust, ["--report", "report.json"], trust + ["--report", "report.json"]] where !inputs.isEmpty {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.cause == "sender-not-trusted", "\(inputs) \(diagnosed.text)", sourceLocation: location)
            #expect(diagnosed.first.cause.contains(words), "\(inputs) \(diagnosed.text)", sourceLocation: location)
        }
    }

    @Test(
        "an unsigned push where senders are pinned, and a signed one that has lost its skid", arguments: [true, false])
    func unsigned(wasSigned: Bool) async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let sealed = try app.seal(by: wasSigned ? backend.signer() : nil)
        let push = try Payload.changing(sealed, "pushcrypt") { $0["skid"] = nil }
        #expect(await app.fail(push).failure == .undecryptable)
        try expect("isn't signed", app, backend, push)
        // Opening shows only that something is missing.
        let opened = try app.diagnose(
            push, "--trust", backend.write(app), "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(opened.errors == ["sender-not-trusted"] + (wasSigned ? ["undecryptable"] : []), "\(opened.text)")
    }

    @Test("a signed push where the app expects unsigned ones")
    func unexpected() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(by: Backend().signer())
        #expect(await app.fail(push).failure == .unknownKey)
        try expect("set up for unsigned", app, nil, push)
    }

    @Test("a push that is signed by a sender that the app doesn't pin")
    func notPinned() async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try app.seal(by: Backend().signer())
        #expect(await app.fail(push).failure == .unknownKey)
        try expect("doesn't pin", app, backend, push)
    }

    @Test("a push that is signed by a sender key that has ended", arguments: [true, false])
    func ended(isRevoked: Bool) async throws {
        var backend = try Backend()
        if isRevoked {
            backend.lifecycle.revokedAt = InstalledApp.start - 60
        } else {
            backend.lifecycle.retiresAt = InstalledApp.start - 120
            backend.lifecycle.expiresAt = InstalledApp.start - 60
        }
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try app.seal(by: backend.signer())
        #expect(await app.fail(push).failure == (isRevoked ? .keyRevoked : .keyExpired))
        try expect(isRevoked ? "was revoked" : "has expired", app, backend, push)
    }

    @Test("the device's report decides whom the app trusts, also where --trust says otherwise")
    func otherTrust() async throws {
        let (backend, staging) = (try Backend(), try Backend())
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try app.seal(by: backend.signer())
        await app.succeed(push)
        try app.writeReport()
        let trust = try staging.write(app)
        #expect(try app.diagnose(push, "--trust", trust).cause == "sender-not-trusted")
        #expect(try app.diagnose(push, "--trust", trust, "--report", "report.json").found.isEmpty)
    }

    @Test(
        "sender keys that the device can't use: the advice is for the reason",
        arguments: [
            ("keyLocked", "Unlock"), ("missingResource", "Add sender-pins.json"),
            ("keyExpired", "before its validity ends"),
        ])
    func unusable(_ reason: String, _ advice: String) async throws {
        let failure = FailureClass(rawValue: reason)
        let app = try await InstalledApp(.init(senders: .current { () throws(FailureClass) in throw failure }))
        try app.writeReport()
        let diagnosed = try app.diagnose(app.seal(), "--report", "report.json")
        #expect(diagnosed.cause == "sender-set-unusable", "\(diagnosed.text)")
        #expect(diagnosed.first.advice.contains(advice), "\(diagnosed.text)")
    }

    /// A sender of one's own that signs with a wrong signature: 64 zero bytes.
    @Test("a push with a wrong signature opens with the keys, and --trust shows that the device refuses it")
    func wrongSignature() async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(suite: .x25519, withPSK: false, senders: backend.trust()))
        let (kid, skid) = (try #require(app.keyring.keyIDs().first), backend.record.kid)
        guard case .recipient(let publicKey, _, _) = try app.keyring.load(kid).record.material else { return }
        func prefixed(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }
        let info =
            Array("pushcrypt/1".utf8) + [0, 2, 2] + prefixed("\(kid)") + prefixed("\(skid)")
            + prefixed(InstalledApp.topic)
        let start = InstalledApp.start.seconds
        let header = #"{"id":"AAAAAAAAAAAAAAAAAAAAAA","iat":\#(start),"exp":\#(start + 60)}"#
        let plaintext = [UInt8](repeating: 0, count: 64) + #"{"aps":{"alert":"x"},"pushcrypt":\#(header)}"#.utf8
        var sealed: [UInt8] = []
        try HPKE(kem: .dhkemX25519, aead: .aes128GCM, backend: DefaultBackend.shared)
            .seal(plaintext.bytes, to: publicKey, info: info.bytes, appendingTo: &sealed)
        let frame = OuterFrame(placeholder: Array(#"{"title":"New message"}"#.utf8), exposed: [], kid: kid, skid: skid)
        let push = Data(frame.payload(sealed: sealed))
        #expect(await app.fail(push).failure == .undecryptable)
        try app.writeReport()
        let inputs = ["--keys", try app.keyFile(), "--topic", InstalledApp.topic]
        let unverified = try Diagnosed(app.place, push, inputs, at: app.clock.time)
        #expect(unverified.found.isEmpty, "\(unverified.text)")
        #expect(unverified.text.contains("its signature wasn't verified"), "\(unverified.text)")
        let counted = try Diagnosed(app.place, push, inputs + ["--report", "report.json"], at: app.clock.time)
        #expect(counted.errors == ["undecryptable"] && counted.first.cause.contains("signature"), "\(counted.text)")
        let verified = try Diagnosed(app.place, push, inputs + ["--trust", backend.write(app)], at: app.clock.time)
        #expect(verified.errors == ["signature-invalid"], "\(verified.text)")
    }
}
