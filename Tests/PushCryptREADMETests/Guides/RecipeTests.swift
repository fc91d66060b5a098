import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Each recipe in a session, with a push that was really sealed and with files that are really fetched.
@Suite("recipes", .timeLimit(.minutes(5))) struct RecipeTests {
    private struct NoAccess: Error {}

    private let folder: TemporaryFolder
    private let group: AppGroup
    private let keys: Keyset.Entry
    private let now = UnixTime(1_800_000_000)

    init() throws {
        folder = try TemporaryFolder()
        group = AppGroup("group.com.example.app", folder: folder.url, topic: "com.example.app")
        keys = Keyset.Entry(
            try .generate(.recipient, psk: true, backend: DefaultBackend.shared), KeyLifecycle())
    }

    private func sealed(_ payload: String) throws -> [UInt8] {
        let recipient = try Recipient(Keyset.Entry(keys.record.publicRecord(keepingPSK: true), KeyLifecycle()))
        let sealed = try Sealer(topic: group.topic, clock: { now }).seal(
            Array(payload.utf8), to: recipient, placeholder: .standard)
        return Array(sealed.json)
    }

    /// Delivers a payload to an extension with its own text "Own" and the strings of an app.
    private func deliver(
        _ payload: [UInt8], _ recipes: (inout ExtensionConfiguration) throws -> Void
    ) async throws -> DeliverySession.Delivery {
        var configuration = try ExtensionConfiguration(
            topic: group.topic, keyring: KeysetKeyring(Keyset([keys])), senders: .unsigned,
            fallback: .bundled(.literal(title: "Own", body: nil)))
        configuration.clock = { now }
        configuration.store = group.store(.extension)
        configuration.strings = ["OPEN_TO_READ": "Öffne die App."]
        try recipes(&configuration)
        // A busy machine may need longer than the limits of a device.
        configuration.timer = ManualTimer()
        configuration.receipts?.timer = ManualTimer()
        if let stage = configuration.attachments as? AttachmentStage { configuration.attachments = stage.withoutLimits }
        if let stage = configuration.attachments as? MigratedAttachments {
            configuration.attachments = MigrationWithoutLimits(stage: stage)
        }
        return await withCheckedContinuation { [configuration] continuation in
            DeliverySession(payload: payload, configuration: configuration) { continuation.resume(returning: $0) }
                .start()
        }
    }

    private func userInfo(_ delivery: DeliverySession.Delivery) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(delivery.content.userInfo)) as? [String: Any])
    }

    private func files(_ delivery: DeliverySession.Delivery) throws -> [Data] {
        try delivery.content.attachments.map { try Data(contentsOf: URL(fileURLWithPath: $0.path)) }
    }

    /// All recipes, also those that `addRecipes` leaves out, because they weaken the app.
    private func addAll(to configuration: inout ExtensionConfiguration, _ transport: any HTTPTransport) throws {
        try addRecipes(to: &configuration, transport: transport)
        configuration.attachments = imageAddress(group, transport: transport)
        configuration.unsealed = .shown
    }

    @Test("a sealed push with a picture shows it with its category, and is reported by its push_id")
    func allRecipes() async throws {
        let payload = try sealed(
            #"{"aps":{"alert":{"title":"Zoë"}},"image_url":"https://files.example.com/a.png","push_id":"m-17"}"#)
        try await RecipeServer.serving { server, transport in
            let delivery = try await deliver(payload) { try addAll(to: &$0, transport) }
            #expect(delivery.failure == nil)
            #expect(delivery.content.title.literal == "Zoë")
            #expect(delivery.content.body.literal == "Öffne die App.")
            #expect(delivery.content.category == "PICTURE")
            #expect(try files(delivery) == [try #require(RecipeServer.picture)])
            let receipt = try #require(await server.receipt())
            #expect(receipt.hasPrefix("Example/1.0 id="))
            #expect(receipt.contains("&push=m-17&outcome=opened&time=1800000000"))
            #expect(server.paths == ["/a.png", "/receipts"])
        }
    }

    @Test("without its picture a push keeps the category of its payload, and its text is shown")
    func missingPicture() async throws {
        let payload = try sealed(
            #"{"aps":{"alert":"Hi","category":"CHAT"},"image_url":"https://files.example.com/none"}"#)
        try await RecipeServer.serving { server, transport in
            let delivery = try await deliver(payload) { try addAll(to: &$0, transport) }
            #expect(delivery.isRestored && delivery.failure == .attachmentFailed)
            #expect(delivery.content.body.literal == "Hi")
            #expect(delivery.content.category == "CHAT")
            #expect(try #require(await server.receipt()).contains("&outcome=attachmentFailed&"))
            #expect(server.paths == ["/none", "/receipts"])
        }
    }

    @Test("an address with http, and one that a relay added outside of the seal, is never requested")
    func refusedAddress() async throws {
        let inside = try sealed(#"{"aps":{"alert":"Hi"},"image_url":"http://files.example.com/a.png"}"#)
        let outside =
            try sealed(#"{"aps":{"alert":"Hi"}}"#).dropLast()
            + Array(#","image_url":"https://files.example.com/a.png"}"#.utf8)
        try await RecipeServer.serving { server, transport in
            let refused = try await deliver(inside) { $0.attachments = imageAddress(group, transport: transport) }
            #expect(refused.isRestored && refused.failure == .attachmentFailed)
            #expect(refused.content.body.literal == "Hi")
            let added = try await deliver(Array(outside)) { $0.attachments = imageAddress(group, transport: transport) }
            #expect(added.failure == nil && added.content.attachments.isEmpty)
            #expect(server.paths.isEmpty)
        }
    }

    @Test("a body of the payload stays, and a text replaces an empty one also in an app without the key")
    func defaultBody() async throws {
        let payload = try sealed(#"{"aps":{"alert":{"title":"Zoë","body":"Hi"}}}"#)
        let kept = try await deliver(payload) { $0.stages = [DefaultBody()] }
        #expect(kept.content.body.literal == "Hi")
        for body in ["", #","body":"""#, #","body":" \u200b""#] {
            let payload = try sealed(#"{"aps":{"alert":{"title":"Zoë"\#(body)}}}"#)
            let filled = try await deliver(payload) { configuration in
                configuration.stages = [DefaultBody()]
                configuration.strings = [String: String]()
            }
            #expect(filled.content.body.literal == "Open the app to read it.")
        }
    }

    @Test("a receipt that the server refuses is sent by the app, once", .timeLimit(.minutes(5)))
    func receiptSentByTheApp() async throws {
        let payload = try sealed(#"{"aps":{"alert":"Hi"},"push_id":"m-18"}"#)
        try await RecipeServer.serving { server, transport in
            server.refuseReceipts(true)
            _ = try await deliver(payload) { try addAll(to: &$0, transport) }
            let first = try #require(await server.receipt())
            server.refuseReceipts(false)
            let app = ReceiptSender(
                store: group.store(.app), posting: try deliveryReceipts(transport: transport), clock: { now })
            var flush = try await app.flush()
            // The extension may still be reading the refusal.
            while flush.sentCount == 0 {
                await Task.yield()
                flush = try await app.flush()
            }
            #expect(flush.sentCount == 1 && flush.leftCount == 0)
            #expect(await server.receipt() == first)
            #expect(first.contains("&push=m-18&"))
            #expect(try await app.flush().sentCount == 0)
        }
    }

    @Test("a push that wasn't sealed is shown as it is and isn't reported, and a damaged sealed one shows the own text")
    func unsealed() async throws {
        let plain = #"{"aps":{"alert":{"title":"Ad"},"category":"SHOP"},"image_url":"https://files.example.com/a.png"}"#
        let damaged = #"{"aps":{"alert":{"title":"Ad"}},"pushcrypt":5}"#
        try await RecipeServer.serving { server, transport in
            let shown = try await deliver(Array(plain.utf8)) { try addAll(to: &$0, transport) }
            #expect(shown.isUnsealed)
            #expect(shown.content.title.literal == "Ad" && shown.content.body.isEmpty)
            #expect(shown.content.category == "SHOP" && shown.content.attachments.isEmpty)
            #expect(shown.content.userInfo == Array(plain.utf8))
            let refused = try await deliver(Array(plain.utf8)) { _ in }
            #expect(refused.failure == .notSealed && refused.content.title.literal == "Own")
            let broken = try await deliver(Array(damaged.utf8)) { try addAll(to: &$0, transport) }
            #expect(broken.failure == .malformed && broken.content.title.literal == "Own")
            // The only receipt is that of the damaged one.
            #expect(try #require(await server.receipt()).contains("&outcome=malformed&"))
            #expect(server.paths == ["/receipts"])
        }
    }

    @Test("the fields of OneSignal and FCM work in a sealed payload: pictures are attached, the rest is in userInfo")
    func migrated() async throws {
        let payload = try sealed(
            """
            {"aps":{"alert":"Hi"},"push_id":"7b4c","custom":{"i":"7b4c","a":{"chat":"c1"}},"gcm.message_id":"169",\
            "att":{"b":"https://files.example.com/b.png","a":"https://files.example.com/a.png","c":5},\
            "fcm_options":{"image":"https://files.example.com/f.png"}}
            """)
        try await RecipeServer.serving { server, transport in
            let delivery = try await deliver(payload) { configuration in
                configuration.attachments = MigratedAttachments(group, transport: transport)
                configuration.receipts = try deliveryReceipts(transport: transport)
            }
            #expect(delivery.failure == nil)
            #expect(
                delivery.content.attachments.map(\.identifier) == [
                    "member.att.a", "member.att.b", "member.fcm_options.image",
                ])
            let info = try userInfo(delivery)
            #expect(((info["custom"] as? [String: Any])?["a"] as? [String: String]) == ["chat": "c1"])
            #expect(info["gcm.message_id"] as? String == "169")
            #expect(try #require(await server.receipt()).contains("&push=7b4c&"))
            #expect(server.paths == ["/a.png", "/b.png", "/f.png", "/receipts"])
        }
    }

    @Test("a payload without the fields of OneSignal and FCM, or with others in their place, has no attachments")
    func notMigrated() async throws {
        for members in ["", #","att":"https://files.example.com/a.png""#, #","att":[1],"fcm_options":"x""#] {
            let payload = try sealed(#"{"aps":{"alert":"Hi"}\#(members)}"#)
            try await RecipeServer.serving { server, transport in
                let delivery = try await deliver(payload) {
                    $0.attachments = MigratedAttachments(group, transport: transport)
                }
                #expect(delivery.failure == nil && delivery.content.attachments.isEmpty)
                #expect(server.paths.isEmpty)
            }
        }
    }

    @Test("the title gets the contact's name and the suffix; if the address book can't be read, only the suffix")
    func contactAndSuffix() async throws {
        let found = try await deliver(try sealed(#"{"aps":{"alert":{"title":"+41 00 000","body":"Hi"}}}"#)) {
            $0.stages = [ContactName { _ in "Zoë" }, modified]
        }
        #expect(found.content.title.literal == "Zoë [modified]" && found.stageFailures.isEmpty)
        let failed = try await deliver(try sealed(#"{"aps":{"alert":{"title":"+41 00 000","body":"Hi"}}}"#)) {
            $0.stages = [ContactName { _ in throw NoAccess() }, modified]
        }
        #expect(failed.content.title.literal == "+41 00 000 [modified]")
        #expect(failed.stageFailures == [StageFailure(stage: "ContactName", ending: .failed)])
        #expect(failed.failure == nil)
    }
}

extension AttachmentStage {
    /// The stage with a clock that stands still.
    fileprivate var withoutLimits: AttachmentStage {
        var stage = self
        let start = ContinuousClock.now
        (stage.timer, stage.now) = (ManualTimer(), { start })
        return stage
    }
}

private struct MigrationWithoutLimits: ContentStage {
    let stage: MigratedAttachments

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await stage.stage(for: push).withoutLimits.process(content, of: push)
    }
}
