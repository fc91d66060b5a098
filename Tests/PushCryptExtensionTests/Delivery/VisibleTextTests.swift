import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Delivered content always has visible text.
@Suite struct VisibleTextTests {
    private static let bundled = "Bundled"

    private static func deliver(
        _ payload: [UInt8], key: String = "p256", keyring: (any RecipientKeyring)? = nil,
        _ change: (inout ExtensionConfiguration) -> Void
    ) async throws -> DeliverySession.Delivery {
        let diagnostics = RecordingReporter()
        var configuration = try ExtensionConfiguration.test(
            key: key, keyring: keyring, fallback: .outerAlert(orElse: .literal(title: bundled, body: nil)))
        configuration.timer = ManualTimer()
        configuration.diagnostics = diagnostics
        change(&configuration)
        let delivery = await configuration.delivery(of: payload)
        await diagnostics.reported.wait()
        #expect(diagnostics.reports.map(\.failure) == [delivery.failure])
        #expect(diagnostics.reports.map(\.isRestored) == [delivery.isRestored])
        return delivery
    }

    private static func sealed(alert: String) throws -> [UInt8] {
        try TestPush(json: #"{"aps":{"alert":\#(alert),"badge":3},"n":1}"#).sealed()
    }

    private static let empty = ["", "%@", " %@\n", "\u{200B}", "%1$@\u{2060}%2$@"]

    @Test("sealed text with an empty localisation shows the app's own text and is malformed", arguments: empty)
    func emptyLocalisation(format: String) async throws {
        let delivery = try await Self.deliver(Self.sealed(alert: #"{"loc-key":"MSG"}"#)) { configuration in
            configuration.strings = ["MSG": format]
            // Neither stage runs, because the content can't be shown.
            configuration.stages = [SuffixStage(suffix: " a")]
            configuration.attachments = SuffixStage(suffix: " b")
        }
        #expect(delivery.content.title.literal == Self.bundled)
        #expect(delivery.stageFailures.isEmpty)
        #expect(delivery.content.badge == nil)
        #expect(delivery.failure == .malformed)
        #expect(!delivery.isRestored)
    }

    @Test("sealed text with an empty localisation shows its literal text and is restored", arguments: empty)
    func literalBeside(format: String) async throws {
        let alert = #"{"body":"Hello","loc-key":"MSG"}"#
        let delivery = try await Self.deliver(Self.sealed(alert: alert)) { $0.strings = ["MSG": format] }
        #expect(delivery.content.body == .init(literal: "Hello"))
        #expect(delivery.failure == nil)
    }

    /// `nil`: the configuration has no strings.
    private static let tablesWithoutTheKey: [[String: String]?] = [nil, [:], ["OTHER": "Other"]]

    @Test("the literal text beside a key that the app lacks is shown", arguments: tablesWithoutTheKey)
    func literalBesideAMissingKey(strings: [String: String]?) async throws {
        let alert = #"{"title":"Hello","title-loc-key":"MSG_TITLE","body":"You","loc-key":"MSG"}"#
        let delivery = try await Self.deliver(Self.sealed(alert: alert)) { $0.strings = strings }
        #expect(delivery.content.title == .init(literal: "Hello"))
        #expect(delivery.content.body == .init(literal: "You"))
        #expect(delivery.content.badge == 3)
        #expect(delivery.failure == nil)
    }

    @Test("a key that the app lacks and no literal text show the app's own text", arguments: tablesWithoutTheKey)
    func missingKey(strings: [String: String]?) async throws {
        let alert = #"{"title-loc-key":"MSG_TITLE","loc-key":"MSG"}"#
        let delivery = try await Self.deliver(Self.sealed(alert: alert)) { $0.strings = strings }
        #expect(delivery.content.title == .init(literal: Self.bundled))
        #expect(delivery.content.body.isEmpty)
        #expect(delivery.failure == .malformed)
    }

    @Test("a title whose key the app lacks is left out if the body has text", arguments: tablesWithoutTheKey)
    func missingTitle(strings: [String: String]?) async throws {
        let alert = #"{"title-loc-key":"MSG_TITLE","body":"You"}"#
        let delivery = try await Self.deliver(Self.sealed(alert: alert)) { $0.strings = strings }
        #expect(delivery.content.title == .init())
        #expect(delivery.content.body == .init(literal: "You"))
        #expect(delivery.failure == nil)
    }

    @Test(
        "an outer alert and own text with keys that the app lacks show the standard text",
        arguments: tablesWithoutTheKey)
    func missingOwnKey(strings: [String: String]?) async throws {
        let payload = try TestPush(key: "other p256").sealed().replacing(
            #"{"title":"New message"}"#, with: #"{"loc-key":"MSG"}"#)
        let delivery = try await Self.deliver(payload) {
            ($0.fallback, $0.strings) = (.outerAlert(orElse: .localized(title: "NEW", body: nil)), strings)
        }
        #expect(delivery.content.title == .init(literal: Placeholder.standard.title))
        #expect(delivery.failure == .unknownKey)
    }

    @Test(
        "an accepted unsealed push with a key that the app lacks shows its literal text", arguments: tablesWithoutTheKey
    )
    func missingUnsealedKey(strings: [String: String]?) async throws {
        let payload = Array(#"{"aps":{"alert":{"body":"Hello","loc-key":"MSG"},"badge":2}}"#.utf8)
        let delivery = try await Self.deliver(payload) { ($0.unsealed, $0.strings) = (.shown, strings) }
        #expect(delivery.content.body == .init(literal: "Hello"))
        #expect(delivery.content.badge == 2)
        #expect(delivery.isUnsealed)
    }

    @Test("the default body replaces a body with an empty localisation and the push is restored")
    func defaultBody() async throws {
        let delivery = try await Self.deliver(Self.sealed(alert: #"{"loc-key":"MSG"}"#)) {
            ($0.strings, $0.defaultBody) = (["MSG": ""], "No text")
        }
        #expect(delivery.content.body.literal == "No text")
        #expect(delivery.failure == nil)
    }

    @Test(
        "sealed text without visible characters is malformed, and the placeholder is shown",
        arguments: [#"" ""#, #"{"title":"\t","body":"\u200b"}"#, #""\u2800""#, #""\u3164\u202e""#])
    func invisible(alert: String) async throws {
        // Our sender refuses such a text, and another may not.
        let header = #""pushcrypt":{"id":"AAECAwQFBgcICQoLDA0ODw","iat":1800000000,"exp":1800000060}"#
        let push = try TestPush(json: #"{"aps":{"alert":\#(alert)},\#(header)}"#).sealedAsMessage()
        let delivery = try await Self.deliver(push) { _ in }
        #expect(delivery.content.title.literal == "New message")
        #expect(delivery.failure == .malformed)
    }

    @Test("an outer alert with an empty localisation shows the app's own text", arguments: empty)
    func outerAlert(format: String) async throws {
        let payload = try TestPush(key: "other p256").sealed().replacing(
            #"{"title":"New message"}"#, with: #"{"loc-key":"MSG"}"#)
        let delivery = try await Self.deliver(payload) { $0.strings = ["MSG": format] }
        #expect(delivery.content.title.literal == Self.bundled)
        #expect(delivery.failure == .unknownKey)
    }

    @Test("the standard text replaces the app's own text if its localisation is empty")
    func ownText() async throws {
        let payload = Array(#"{"aps":{"alert":"x"}}"#.utf8)
        let delivery = try await Self.deliver(payload) {
            ($0.fallback, $0.strings) = (.bundled(.localized(title: "NEW", body: nil)), ["NEW": " "])
        }
        #expect(delivery.content.title.literal == Placeholder.standard.title)
        #expect(delivery.failure == .notSealed)
    }

    private struct LockedKeyring: RecipientKeyring {
        func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey { throw .keyLocked }
    }

    private struct Always: BootMarker {
        func markThisBoot() -> Bool { true }
    }

    @Test("the app's own text replaces an unlock notice with an empty localisation")
    func unlockNotice() async throws {
        let delivery = try await Self.deliver(TestPush().sealed(), keyring: LockedKeyring()) {
            $0.unlockNotice = UnlockNotice(.localized(title: "UNLOCK", body: nil), marker: Always())
            $0.strings = ["UNLOCK": ""]
        }
        #expect(delivery.content.title.literal == Self.bundled)
        #expect(delivery.failure == .keyLocked)
    }

    private struct KeyStage: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = NotificationContent()
            content.body = .init(locKey: "MSG")
            return content
        }
    }

    private struct BlankStage: ContentStage {
        func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
            var content = NotificationContent()
            content.body = .init(literal: "\n\u{FEFF}")
            return content
        }
    }

    @Test(
        "a stage that leaves no visible text counts as emptied, and the content before it is shown",
        arguments: [KeyStage() as any ContentStage, BlankStage()])
    func stage(_ stage: any ContentStage) async throws {
        let delivery = try await Self.deliver(Self.sealed(alert: #""Hello""#)) {
            ($0.stages, $0.strings) = ([stage], ["MSG": "%@"])
        }
        #expect(delivery.content.body.literal == "Hello")
        #expect(delivery.failure == nil)
        #expect(delivery.stageFailures == [StageFailure(stage: stage.name, ending: .emptied)])
    }

    @Test("an accepted unsealed push that ends without text shows the app's own text as notSealed")
    func unsealed() async throws {
        let delivery = try await Self.deliver(Array(#"{"aps":{"alert":{"loc-key":"MSG"},"badge":2}}"#.utf8)) {
            ($0.unsealed, $0.strings) = (.shown, ["MSG": ""])
        }
        #expect(delivery.content.title.literal == Self.bundled)
        #expect(delivery.content.badge == nil)
        #expect(delivery.failure == .notSealed)
        #expect(!delivery.isUnsealed)
    }

    @Test("a message without text isn't marked as seen and can be claimed again")
    func mayComeAgain() async throws {
        let folder = try StoreFolder()
        let store = folder.store()
        let payload = try Self.sealed(alert: #"{"loc-key":"MSG"}"#)
        let name = try TestPush.open(payload).get().name
        _ = try await Self.deliver(payload) { ($0.strings, $0.store) = (["MSG": ""], store) }
        #expect(try store.claim(name, issuedAt: TestPush.now, at: TestPush.now + 60))
    }

    @Test(
        "characters with a glyph are visible, and all others are not",
        arguments: [
            ("a", true), (" a ", true), ("é", true), ("🧶", true), ("👩‍👩‍👧", true), ("\u{0301}", true), ("٣", true),
            ("", false), (" \t\r\n", false), ("\u{A0}\u{3000}\u{2028}", false),
            ("\u{200B}\u{200C}\u{200D}\u{2060}\u{FEFF}", false), ("\u{200E}\u{202E}\u{2066}", false),
            ("\u{AD}\u{FE0F}\u{E0020}", false), ("\u{0}\u{7}\u{1B}\u{85}", false), ("\u{115F}\u{3164}\u{FFA0}", false),
            ("\u{2800}", false), ("\u{180E}", false), ("\u{FFFC}", false), ("\u{FFFF}", false),
        ])
    func visible(text: String, isVisible: Bool) {
        #expect(text.isVisible == isVisible)
        #expect(NotificationContent.Text(literal: text).isEmpty == !isVisible)
    }
}
