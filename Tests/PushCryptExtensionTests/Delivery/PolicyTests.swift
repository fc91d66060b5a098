import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The settings of a configuration: texts, unsealed pushes, the unlock notice, localisation.
@Suite struct PolicyTests {
    private static func delivery(
        of payload: [UInt8], key: String = "p256", keyring: (any RecipientKeyring)? = nil,
        _ change: (inout ExtensionConfiguration) -> Void
    ) async throws -> DeliverySession.Delivery {
        var configuration = try ExtensionConfiguration.test(key: key, keyring: keyring)
        configuration.timer = ManualTimer()
        change(&configuration)
        return await configuration.delivery(of: payload)
    }

    private struct LockedKeyring: RecipientKeyring {
        func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw .keyLocked }
    }

    private static let unsealed = Array(
        #"{"aps":{"alert":{"title":"Ad","body":"Buy"},"mutable-content":1,"category":"PAY"},"image_url":"https://a.example"}"#
            .utf8)

    @Test("an unsealed push is notSealed and shows the app's own text by default")
    func unsealedIsRefused() async throws {
        let delivery = try await Self.delivery(of: Self.unsealed) { _ in }
        #expect(delivery.failure == .notSealed)
        #expect(delivery.content.title.literal == Placeholder.standard.title)
    }

    /// Records the titles that it receives.
    private final class NotingStage: ContentStage, UnsealedStage {
        private let seen = Locked<[String]>([])
        let suffix: String

        init(suffix: String = "") { self.suffix = suffix }

        var titles: [String] { seen.withLock { $0 } }

        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            try await process(unsealed: content)
        }

        func process(unsealed content: NotificationContent) async throws -> NotificationContent {
            var content = content
            seen.withLock { [title = content.title.literal] in $0.append(title ?? "") }
            content.title.literal = (content.title.literal ?? "") + suffix
            return content
        }
    }

    @Test("an accepted unsealed push is shown unchanged and counts neither as restored nor as failed")
    func unsealedIsShown() async throws {
        let (stage, diagnostics) = (NotingStage(), RecordingReporter())
        let delivery = try await Self.delivery(of: Self.unsealed) { configuration in
            configuration.unsealed = .shown
            configuration.stages = [stage]
            configuration.attachments = stage
            configuration.diagnostics = diagnostics
        }
        #expect(delivery.failure == nil)
        #expect(!delivery.isRestored)
        #expect(delivery.isUnsealed)
        #expect(delivery.content == NotificationContent(unmodified: Self.unsealed))
        #expect(delivery.content.title.literal == "Ad")
        #expect(delivery.content.category == "PAY")
        #expect(delivery.content.userInfo == Self.unsealed)
        #expect(stage.titles.isEmpty)
        await diagnostics.reported.wait()
        #expect(diagnostics.reports.map(\.failure) == [nil])
        #expect(diagnostics.reports.map(\.isRestored) == [false])
    }

    @Test("an accepted unsealed push runs only the stages for unsealed pushes")
    func unsealedStages() async throws {
        let (first, second, other) = (NotingStage(suffix: " b"), NotingStage(suffix: " c"), NotingStage())
        let delivery = try await Self.delivery(of: Self.unsealed) { configuration in
            configuration.unsealed = .shown(stages: [first, second])
            configuration.stages = [other]
        }
        #expect(delivery.content.title.literal == "Ad b c")
        #expect(delivery.content.category == "PAY")
        #expect(delivery.isUnsealed)
        #expect(first.titles == ["Ad"])
        #expect(second.titles == ["Ad b"])
        #expect(other.titles.isEmpty)
    }

    @Test("a sealed push runs no stage for unsealed pushes")
    func sealedRunsNoUnsealedStage() async throws {
        let stage = NotingStage(suffix: " b")
        let delivery = try await Self.delivery(of: TestPush().sealed()) { $0.unsealed = .shown(stages: [stage]) }
        #expect(delivery.content.title.literal == "Zoë")
        #expect(delivery.isRestored)
        #expect(stage.titles.isEmpty)
    }

    @Test(
        "a push with an invalid pushcrypt member is malformed, even if unsealed pushes are accepted",
        arguments: ["0", "null", "{}", "\"\"", "[]", #"{"v":1}"#], [false, true])
    func malformedEnvelope(_ member: String, letsUnsealedThrough: Bool) async throws {
        let payload = Array(
            #"""
            {"aps":{"alert":{"title":"Pay","body":"now"},"mutable-content":1,"badge":9,"category":"PAY","thread-id":"t",\#
            "sound":{"name":"siren.caf","critical":1,"volume":1},"interruption-level":"critical","filter-criteria":"f"},\#
            "url":"https://a.example","pushcrypt":\#(member)}
            """#.utf8)
        let stage = NotingStage(suffix: " b")
        for mode in [Fallback.outerAlert(orElse: .standard), .bundled(.standard)] {
            let delivery = try await Self.delivery(of: payload) { configuration in
                configuration.fallback = mode
                if letsUnsealedThrough { configuration.unsealed = .shown(stages: [stage]) }
            }
            #expect(delivery.failure == .malformed)
            #expect(!delivery.isRestored)
            #expect(delivery.content == mode.content(for: payload, .malformed))
            #expect(delivery.content.sound == .init(name: "default"))
            #expect(delivery.content.badge == nil)
            #expect(delivery.content.interruptionLevel == nil)
        }
        #expect(stage.titles.isEmpty)
    }

    private struct LyingKeyring: RecipientKeyring {
        func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw .notSealed }
    }

    @Test("a sealed payload for which the keyring throws notSealed is not accepted as unsealed")
    func lyingKeyring() async throws {
        let delivery = try await Self.delivery(of: TestPush().sealed(), keyring: LyingKeyring()) {
            $0.unsealed = .shown
        }
        #expect(delivery.failure == .notSealed)
        #expect(delivery.content.title.literal == Placeholder.standard.title)
    }

    @Test("an unsealed push without text shows the app's own text")
    func unsealedWithoutText() async throws {
        let delivery = try await Self.delivery(of: Array(#"{"aps":{}}"#.utf8)) { $0.unsealed = .shown }
        #expect(delivery.failure == .notSealed)
        #expect(delivery.content.title.literal == Placeholder.standard.title)
    }

    @Test("a failure class with its own text shows that text")
    func textByClass() async throws {
        let text = Placeholder.literal(title: "Open the app once", body: nil)
        let fallback = Fallback.outerAlert(orElse: .standard, texts: [.unknownKey: text])
        let foreign = try TestPush(key: "other p256").sealed()
        let delivery = try await Self.delivery(of: foreign) { $0.fallback = fallback }
        #expect(delivery.content.title.literal == "Open the app once")
        let broken = try await Self.delivery(of: foreign, key: "x25519") { $0.fallback = .bundled(.standard) }
        #expect(broken.content.title.literal == "New message")
    }

    @Test("a placeholder has no category, badge or target of the outer payload")
    func nothingToActOnBesideThePlaceholder() async throws {
        let payload = try TestPush(key: "other p256").sealed().replacing(
            #""mutable-content":1"#, with: #""mutable-content":1,"category":"PAY","badge":2,"target-content-id":"w""#)
        let delivery = try await Self.delivery(of: payload) { _ in }
        #expect(delivery.content.category == nil)
        #expect(delivery.content.targetContentID == nil)
        #expect(delivery.content.badge == nil)
        #expect(delivery.content.title.literal == "New message")
    }

    private final class Marker: BootMarker {
        private let isMarked = Locked(false)

        func markThisBoot() -> Bool {
            isMarked.withLock { isMarked in
                defer { isMarked = true }
                return !isMarked
            }
        }
    }

    @Test("the unlock notice is shown for the first locked push of a boot only")
    func unlockNoticeOncePerBoot() async throws {
        let notice = UnlockNotice(.literal(title: "Unlock your phone to read messages", body: nil), marker: Marker())
        var titles: [String?] = []
        for _ in 0..<3 {
            let delivery = try await Self.delivery(of: TestPush().sealed(), keyring: LockedKeyring()) {
                $0.unlockNotice = notice
            }
            #expect(delivery.failure == .keyLocked)
            titles.append(delivery.content.title.literal)
        }
        #expect(titles == ["Unlock your phone to read messages", "New message", "New message"])
    }

    @Test("another failure doesn't show or use up the unlock notice")
    func unlockNoticeIsForLockedKeysOnly() async throws {
        let notice = UnlockNotice(.literal(title: "Unlock", body: nil), marker: Marker())
        let other = try await Self.delivery(of: []) { $0.unlockNotice = notice }
        #expect(other.content.title.literal == Placeholder.standard.title)
        let locked = try await Self.delivery(of: TestPush().sealed(), keyring: LockedKeyring()) {
            $0.unlockNotice = notice
        }
        #expect(locked.content.title.literal == "Unlock")
    }

    @Test(
        "the default body replaces a missing or empty body",
        arguments: [
            (#"{"title":"A"}"#, "No text"), (#"{"title":"A","body":""}"#, "No text"),
            (#"{"title":"A","body":"b"}"#, "b"),
        ])
    func defaultBody(alert: String, body: String) async throws {
        let payload = try TestPush(json: #"{"aps":{"alert":\#(alert)}}"#).sealed()
        let delivery = try await Self.delivery(of: payload) { $0.defaultBody = "No text" }
        #expect(delivery.content.body.literal == body)
    }

    @Test("a string table resolves keys of restored content and of placeholders")
    func strings() async throws {
        let inner = try TestPush(json: #"{"aps":{"alert":{"title":"A","loc-key":"SENT","loc-args":["Zoë"]}}}"#).sealed()
        let sent = try await Self.delivery(of: inner) { $0.strings = ["SENT": "%@ wrote"] }
        #expect(sent.content.body == NotificationContent.Text(literal: "Zoë wrote"))
        let fallback = Fallback.bundled(.localized(title: "NEW", body: nil))
        let placeholder = try await Self.delivery(of: inner, key: "other p256") {
            ($0.fallback, $0.strings) = (fallback, ["NEW": "Neu"])
        }
        #expect(placeholder.content.title == NotificationContent.Text(literal: "Neu"))
    }
}
