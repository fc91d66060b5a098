import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// The example app of docs/registration.md registers with its example backend.
@Suite("the example of a registration with a proof") struct RegistrationExampleTests {
    private let sender: KeyRecord
    private let backend: Registrations
    private let folder: TemporaryFolder

    init() throws {
        sender = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        backend = Registrations(
            try Sealer(topic: "com.example.app", signer: .key(SenderKey(jwk: Self.jwk(sender)))))
        folder = try TemporaryFolder()
    }

    private static func jwk(_ record: KeyRecord) throws -> [UInt8] {
        var bytes = [UInt8]()
        try record.appendJWK(to: &bytes)
        return bytes
    }

    private var keyring: FileKeyring { FileKeyring(folder: folder.path + "/keys") }

    private static func trust(_ sender: KeyRecord) throws -> SenderTrust {
        .pinned(try TrustedSenders(json: jwk(sender.publicRecord(keepingPSK: false))))
    }

    /// The way of one account's uploads and answers to the backend.
    private func proving(
        account: String, answering: @escaping @Sendable (Data) -> Data = { $0 }
    ) -> ProvingBackend {
        ProvingBackend { [backend] path, body in
            let parts = path.split(separator: "/")
            guard parts.count == 1 else {
                return try await backend.upload(body, account: account, deviceToken: String(parts[1]))
            }
            try await backend.confirm(answering(body), account: account)
            return Data()
        }
    }

    private func app(
        account: String, answering: @escaping @Sendable (Data) -> Data = { $0 }
    ) throws -> PushRegistration {
        let proving = proving(account: account, answering: answering)
        return PushRegistration(
            identity: DeviceIdentity(storage: keyring), folder: folder.path + "/app",
            opener: try Opener(topic: "com.example.app", keyring: keyring, senders: Self.trust(sender))
        ) { try await proving.store($0) }
    }

    @Test("the app registers, a push to the stored registration opens, and after the sign-out none is stored")
    func registers() async throws {
        let app = try app(account: "zoë")
        #expect(try await app.register(deviceToken: Data([1, 2]), account: "zoë").isUploaded)
        let (token, recipient) = try #require(await backend.recipients(of: "zoë").first)
        #expect(try token == "0102" && keyring.keyIDs() == [recipient.kid])
        #expect(try await app.register(deviceToken: Data([3]), account: "zoë").isUploaded)
        #expect(await backend.recipients(of: "zoë").map(\.deviceToken) == ["03"])
        await backend.signOut(recipient.kid, account: "max")
        #expect(await backend.recipients(of: "zoë").count == 1)
        await backend.signOut(recipient.kid, account: "zoë")
        #expect(await backend.recipients(of: "zoë").isEmpty)
    }

    @Test("with a wrong answer nothing is stored, the key isn't confirmed, and the next call uploads again")
    func wrongAnswer() async throws {
        let wrong = try app(account: "zoë") { answer in
            Data(String(decoding: answer, as: UTF8.self).replacing(/"answer":"..../, with: #""answer":"AAAA"#).utf8)
        }
        let error = await #expect(throws: SenderError.self) {
            try await wrong.register(deviceToken: Data([1]), account: "zoë")
        }
        #expect(error?.code == .possessionNotProven)
        #expect(await backend.recipients(of: "zoë").isEmpty)
        #expect(try await app(account: "zoë").register(deviceToken: Data([1]), account: "zoë").isUploaded)
        #expect(await backend.recipients(of: "zoë").count == 1)
    }

    @Test("an answer is taken once")
    func once() async throws {
        let answers = Locked<[Data]>([])
        let app = try app(account: "zoë") { answer in
            answers.withLock { $0.append(answer) }
            return answer
        }
        try await app.register(deviceToken: Data([1]), account: "zoë")
        let answer = try #require(answers.withLock { $0 }.first)
        await #expect(throws: Registrations.Refused.self) { try await backend.confirm(answer, account: "zoë") }
    }

    private func group(topic: String = "com.example.app") -> AppGroup {
        AppGroup("group.test.\(UUID().uuidString)", folder: folder.url, topic: topic)
    }

    @Test("the registration of an app group answers a challenge of the sender that it trusts")
    func trustedSender() async throws {
        let proving = proving(account: "zoë")
        let app = try PushRegistration(group(), senders: nil, trust: Self.trust(sender)) {
            try await proving.store($0)
        }
        #expect(try await app.register(deviceToken: Data([1]), account: "zoë").isUploaded)
        #expect(await backend.recipients(of: "zoë").count == 1)
    }

    @Test("the registration of an app group answers no challenge of another sender: unknownKey")
    func otherSender() async throws {
        let proving = proving(account: "zoë")
        let other = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let app = try PushRegistration(group(), senders: nil, trust: Self.trust(other)) { try await proving.store($0) }
        let error = await #expect(throws: FailureClass.self) {
            try await app.register(deviceToken: Data([1]), account: "zoë")
        }
        #expect(error == .unknownKey)
        #expect(await backend.recipients(of: "zoë").isEmpty)
    }

    @Test("the registration of an app group with an invalid topic throws invalidTopic") func invalidTopic() throws {
        let error = #expect(throws: KeyError.self) {
            try PushRegistration(group(topic: ""), senders: nil) { _ in }
        }
        #expect(error?.code == .invalidTopic)
    }

    @Test("a registration without an opener can't answer")
    func noOpener() async throws {
        let proving = ProvingBackend { [backend] _, body in
            try await backend.upload(body, account: "zoë", deviceToken: "01")
        }
        let app = PushRegistration(
            identity: DeviceIdentity(storage: keyring), folder: folder.path + "/app"
        ) { try await proving.store($0) }
        let error = await #expect(throws: DeviceKeyError.self) {
            try await app.register(deviceToken: Data([1]), account: "zoë")
        }
        #expect(error?.code == .unsuitable)
    }
}
