import PushCryptApple
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import Testing

/// Tests the stages that the guide shows.
@Suite("examples of stages") struct StageExampleTests {
    private struct NoAccess: Error {}

    private let push: OpenedPush

    init() throws {
        push = try Self.opened(PushNotification(title: "+41 00 000", body: "Hi"))
    }

    private static func opened(_ notification: PushNotification) throws -> OpenedPush {
        let entry = Keyset.Entry(try .generate(.recipient, backend: DefaultBackend.shared), KeyLifecycle())
        let recipient = try Recipient(Keyset.Entry(entry.record.publicRecord(keepingPSK: true), KeyLifecycle()))
        let sealed = try Sealer(topic: "com.example.app").seal(
            notification, to: recipient, placeholder: .standard)
        let opener = try Opener(topic: "com.example.app", keyring: KeysetKeyring(Keyset([entry])), senders: .unsigned)
        return try opener.open(Array(sealed.json), at: sealed.expiresAt - 60).get()
    }

    /// Runs the stages as the extension does.
    private func shown(_ stages: [any ContentStage]) async throws -> NotificationContent {
        var content = push.content
        for stage in stages { content = try await stage.process(content, of: push) }
        return content
    }

    @Test("the suffix stage appends its text to the title") func suffix() async throws {
        let content = try await shown([modified])
        #expect(content.title.literal == "+41 00 000 [modified]")
        #expect(content.body.literal == "Hi")
    }

    @Test("a push with a user becomes a message of the user, and another push stays as it is") func chat() async throws
    {
        let asked = Locked<[String]>([])
        let stage = chatMessages { user in
            asked.withLock { $0.append(user) }
            return [1]
        }
        #expect(try await stage.finish(push.content, of: push) == push.content)
        let message = try Self.opened(
            PushNotification(title: "Zoë", custom: ["user": "zoe", "name": "Zoë", "chat": "c1"]))
        #expect(try await stage.finish(message.content, of: message).title.literal == "Zoë")
        #expect(asked.withLock { $0 } == ["zoe"])
    }

    @Test("the contact stage replaces a number by its name") func contactName() async throws {
        let names = ["+41 00 000": "Zoë"]
        let content = try await shown([ContactName { names[$0] ?? $0 }, modified])
        #expect(content.title.literal == "Zoë [modified]")
        await #expect(throws: NoAccess.self) { try await shown([ContactName { _ in throw NoAccess() }]) }
        #expect(ContactName { $0 }.timeLimit == .seconds(3))
    }
}
