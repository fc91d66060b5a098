import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptNotifications
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
        _ fault: String, _ app: InstalledApp, _ backend: Backend?, _ push: Data,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try app.writeReport()
        let trust = try backend.map { ["--trust", try $0.write(app)] } ?? []
        for inputs in [trust, ["--report", "report.json"], trust + ["--report", "report.json"]] where !inputs.isEmpty {
            let diagnosed = try Diagnosed(app.place, push, inputs, at: app.clock.time)
            #expect(diagnosed.errors == [fault], "\(inputs) \(diagnosed.text)", sourceLocation: location)
        }
    }

    @Test("an unsigned push where senders are pinned")
    func unsigned() async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try app.seal()
        #expect(await app.fail(push).failure == .undecryptable)
        try expect("push-not-signed", app, backend, push)
    }

    @Test("a signed push where the app expects unsigned ones")
    func unexpected() async throws {
        let app = try await InstalledApp()
        let push = try app.seal(by: Backend().signer())
        #expect(await app.fail(push).failure == .unknownKey)
        try expect("signature-unexpected", app, nil, push)
        #expect(try app.diagnose(push, "--trust", "none").errors == ["signature-unexpected"])
        #expect(try app.diagnose(app.seal(), "--trust", "none").found.isEmpty)
    }

    @Test("a push that is signed by a sender that the app doesn't pin")
    func notPinned() async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try app.seal(by: Backend().signer())
        #expect(await app.fail(push).failure == .unknownKey)
        try expect("sender-not-pinned", app, backend, push)
        let found = try #require(try app.diagnose(push, "--trust", backend.write(app)).found.first)
        #expect(found.advice.contains("destroyed") && found.advice.contains("current key"))
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
        try expect(isRevoked ? "sender-revoked" : "sender-expired", app, backend, push)
    }

    @Test("a relay that drops skid: the push was signed")
    func dropped() async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try Relay.changing(app.seal(by: backend.signer()), "pushcrypt") { $0["skid"] = nil }
        #expect(await app.fail(push).failure == .undecryptable)
        let diagnosed = try app.diagnose(
            push, "--trust", backend.write(app), "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == ["envelope-member-missing"], "\(diagnosed.text)")
    }

    @Test("a signed push that opens: its signature was checked with the keys of --trust")
    func signatureChecked() async throws {
        let backend = try Backend()
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try app.seal(by: backend.signer())
        let diagnosed = try app.diagnose(
            push, "--trust", backend.write(app), "--keys", app.keyFile(), "--topic", InstalledApp.topic)
        #expect(diagnosed.found.isEmpty, "\(diagnosed.text)")
        #expect(diagnosed.checked.contains("whether its signature is valid"), "\(diagnosed.text)")
        #expect(diagnosed.checked.contains("was sealed for com.example.app and opens"), "\(diagnosed.text)")
    }

    @Test("--trust and the report share a sender, and only the report has that of the push: --trust is the other set")
    func overlappingSets() async throws {
        let (first, common, last) = (try Backend(), try Backend(), try Backend())
        func set(_ backends: Backend...) throws -> Keyset {
            try Keyset(backends.map { Keyset.Entry($0.record, Self.always) }).publicKeyset(keepingPSK: false)
        }
        let app = try await InstalledApp(.init(senders: .pinned(TrustedSenders(set(common, last)))))
        let push = try app.seal(by: last.signer())
        await app.succeed(push)
        try app.writeReport()
        let trust = try app.write(Data(set(first, common).jwkSet(withHistory: false)), to: "senders.json")
        let diagnosed = try app.diagnose(push, "--trust", trust, "--report", "report.json")
        #expect(diagnosed.found.map(\.name) == ["inputs-contradict"], "\(diagnosed.text)")
        let other = try app.seal(by: first.signer())
        let refused = try app.diagnose(other, "--trust", trust, "--report", "report.json")
        #expect(refused.errors == ["sender-not-pinned"], "\(refused.text)")
    }

    @Test("an unsigned push to a device whose pinned keys have all ended: the evidence says that none is valid")
    func noValidKey() async throws {
        let app = try await InstalledApp()
        try app.writeReport()
        let report = try Relay.rebuilt(app.place.read("report.json")) {
            $0["senders"] = ["kids": [String](), "refused": ["K7bX0aQf3nQ": "keyExpired"]]
        }
        let diagnosed = try app.diagnose(app.seal(), "--report", app.write(report, to: "report.json"))
        #expect(diagnosed.errors.contains("push-not-signed"), "\(diagnosed.text)")
        #expect(diagnosed.text.contains("the device pins no valid key"), "\(diagnosed.text)")
    }

    @Test("a report with very many sender keys: only 64 are tried for a push that has lost its skid")
    func manySenders() async throws {
        let (backend, stranger) = (try Backend(), try Backend())
        let app = try await InstalledApp(.init(senders: backend.trust()))
        let push = try Relay.changing(app.seal(by: backend.signer()), "pushcrypt") { $0["skid"] = nil }
        try app.writeReport()
        let own = "\(backend.record.kid)"
        for (kids, name) in [
            (Array(repeating: "\(stranger.record.kid)", count: 100) + [own], "envelope-member-missing"),
            (Self.kids(64) + [own], "undecryptable"),
        ] {
            let report = try Relay.rebuilt(app.place.read("report.json")) { $0["senders"] = ["kids": kids] }
            let diagnosed = try app.diagnose(
                push, "--report", app.write(report, to: "many.json"), "--keys", app.keyFile(), "--topic",
                InstalledApp.topic)
            #expect(diagnosed.errors.contains(name), "\(diagnosed.text)")
        }
    }

    /// Ids of keys that nobody has.
    private static func kids(_ count: Int) -> [String] {
        (0..<count).map { Base64URL.encode([UInt8(truncatingIfNeeded: $0)] + [UInt8](repeating: 7, count: 7)) }
    }

    /// A publisher that signs the backend's set, and what apps pin.
    private struct Publisher {
        let app: InstalledApp
        let backend: Backend
        let record: KeyRecord

        init(_ app: InstalledApp, _ backend: Backend) throws {
            (self.app, self.backend) = (app, backend)
            record = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        }

        func pins(_ publishers: KeyRecord...) throws -> SenderSetPins {
            let all = publishers.isEmpty ? [record] : publishers
            return try SenderSetPins(
                publishers: all.map { $0.publicRecord(keepingPSK: false) }, set: [UInt8](repeating: 7, count: 16),
                epoch: 1)
        }

        func document(topics: [String] = [InstalledApp.topic], validForDays days: Int64 = 30) throws -> [UInt8] {
            let issuedAt = InstalledApp.start - 40 * 86_400
            let publication = try SenderSetPublication(
                set: [UInt8](repeating: 7, count: 16), topics: topics.map { try Topic($0) }, epoch: 1, sequence: 3,
                issuedAt: issuedAt, validUntil: issuedAt + days * 86_400)
            return try SignedSenderSet.sign(backend.published(), publication, by: [record])
        }
    }

    @Test(
        "a signed set of sender keys that the app refuses: of another publisher, for another app, no longer valid",
        arguments: ["publisher", "topic", "validity"])
    func refused(_ reason: String) async throws {
        let backend = try Backend()
        let place = try await InstalledApp()
        let publisher = try Publisher(place, backend)
        let stranger = try Publisher(place, backend)
        let pins = try reason == "publisher" ? stranger.pins() : publisher.pins()
        let document = try publisher.document(
            topics: reason == "topic" ? ["com.example.other"] : [InstalledApp.topic],
            validForDays: reason == "validity" ? 30 : 90)
        let stored = try SenderPins(
            folder: place.place.folder.path + "/senders", publishers: pins, topic: InstalledApp.topic)
        #expect(throws: DeviceKeyError.self) { try stored.accept(document, at: InstalledApp.start) }
        let app = try await InstalledApp(.init(senders: .pinned(stored)))
        let push = try app.seal(by: backend.signer())
        #expect(await app.fail(push).failure == .unknownKey)
        try app.writeReport()
        #expect(try app.diagnose(push, "--report", "report.json").errors == ["sender-set-missing"])
        let files = try (app.write(Data(document), to: "set.json"), app.write(Data(pins.json), to: "pins.json"))
        let diagnosed = try app.diagnose(
            push, "--trust", files.0, "--pins", files.1, "--topic", InstalledApp.topic)
        #expect(diagnosed.errors == ["sender-set-refused"], "\(diagnosed.text)")
    }

    @Test("a signed set that has expired on the device since it was accepted")
    func setExpired() async throws {
        let backend = try Backend()
        let place = try await InstalledApp()
        let publisher = try Publisher(place, backend)
        let stored = try SenderPins(
            folder: place.place.folder.path + "/senders", publishers: publisher.pins(), topic: InstalledApp.topic)
        try stored.accept(publisher.document(), at: InstalledApp.start - 40 * 86_400)
        let app = try await InstalledApp(.init(senders: .pinned(stored)))
        let push = try app.seal(by: backend.signer())
        #expect(await app.fail(push).failure == .keyExpired)
        try expect("sender-expired", app, nil, push)
    }
}
