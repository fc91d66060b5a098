import Testing

@testable import PushCryptExtension

/// Delivered content always has visible text. `AlertVectorTests` of `PushCryptPropertyTests` have the characters
/// and alerts without visible text.
@Suite struct VisibleTextTests {
    private static let bundled = "Bundled"

    private static func show(
        _ payload: [UInt8], keyring: (any RecipientKeyring)? = nil,
        own: Placeholder = .literal(title: bundled, body: nil),
        _ change: (inout ExtensionConfiguration) -> Void = { _ in }
    ) async throws -> DeliverySession.Delivery {
        let reporter = RecordingReporter()
        let delivery = try await deliver(payload, keyring: keyring, reporter: reporter) { configuration in
            configuration.fallback = .outerAlert(orElse: own)
            change(&configuration)
        }
        #expect(reporter.reports.map(\.failure) == [delivery.failure])
        #expect(reporter.reports.map(\.isRestored) == [delivery.isRestored])
        return delivery
    }

    /// An alert with the key `MSG`, for which the app has no visible text, and what is shown of it.
    struct Keyed: Sendable, CustomTestStringConvertible {
        enum Place { case sealed, unsealed, outer }

        let place: Place
        let alert: String
        var own = Placeholder.literal(title: bundled, body: nil)
        var title: String?
        var body: String?
        var failure: FailureClass?
        var testDescription: String { "\(place) \(alert)" }

        func payload() throws -> [UInt8] {
            let aps = #"{"aps":{"alert":\#(alert),"badge":3},"n":1}"#
            return switch place {
            case .sealed: try TestPush(json: aps).sealed()
            case .unsealed: Array(aps.utf8)
            case .outer:
                try TestPush(key: "other p256").sealed().replacing(#"{"title":"New message"}"#, with: alert)
            }
        }
    }

    private static let keyed = [
        Keyed(place: .sealed, alert: #"{"loc-key":"MSG"}"#, title: bundled, failure: .malformed),
        Keyed(place: .sealed, alert: #"{"title-loc-key":"MSG"}"#, title: bundled, failure: .malformed),
        Keyed(
            place: .sealed, alert: #"{"title":"Hello","title-loc-key":"MSG","body":"You","loc-key":"MSG"}"#,
            title: "Hello", body: "You"),
        Keyed(place: .sealed, alert: #"{"title-loc-key":"MSG","body":"You"}"#, body: "You"),
        Keyed(place: .unsealed, alert: #"{"body":"Hello","loc-key":"MSG"}"#, body: "Hello"),
        Keyed(place: .unsealed, alert: #"{"loc-key":"MSG"}"#, title: bundled, failure: .notSealed),
        Keyed(place: .outer, alert: #"{"loc-key":"MSG"}"#, title: bundled, failure: .unknownKey),
        Keyed(
            place: .outer, alert: #"{"loc-key":"MSG"}"#, own: .localized(title: "MSG", body: nil),
            title: Placeholder.standard.title, body: Placeholder.standard.body, failure: .unknownKey),
    ]

    /// Without strings, without the key, and with a localisation that is not visible.
    private static let tables: [[String: String]?] =
        [nil, [:], ["OTHER": "Other"]]
        + ["", "%@", " %@\n", "\u{200B}", "%1$@\u{2060}%2$@"].map { ["MSG": $0] }

    @Test("without text for a key the literal, own or standard text is shown", arguments: keyed, tables)
    func key(_ keyed: Keyed, _ strings: [String: String]?) async throws {
        let delivery = try await Self.show(keyed.payload(), own: keyed.own) { configuration in
            (configuration.strings, configuration.unsealed) = (strings, .shown)
            // Neither stage runs if the content can't be shown.
            guard keyed.failure != nil else { return }
            configuration.stages = [TestStage.suffix(" a")]
            configuration.attachments = TestStage.suffix(" b")
        }
        #expect(delivery.failure == keyed.failure)
        #expect(delivery.content.title == .init(literal: keyed.title))
        #expect(delivery.content.body == .init(literal: keyed.body))
        #expect(delivery.content.badge == (keyed.failure == nil ? 3 : nil))
        #expect(delivery.isRestored == (keyed.failure == nil && keyed.place == .sealed))
        #expect(delivery.isUnsealed == (keyed.failure == nil && keyed.place == .unsealed))
        #expect(delivery.stageFailures.isEmpty)
    }

    @Test("the app's own text replaces an unlock notice with an empty localisation")
    func unlockNotice() async throws {
        let delivery = try await Self.show(TestPush().sealed(), keyring: FailingKeyring(failure: .keyLocked)) {
            $0.unlockNotice = UnlockNotice(
                .localized(title: "UNLOCK", body: nil), marker: FileBootMarker(path: "/none/boot"))
            $0.strings = ["UNLOCK": ""]
        }
        #expect(delivery.content.title.literal == Self.bundled)
        #expect(delivery.failure == .keyLocked)
    }

    @Test(
        "a stage that leaves no visible text counts as emptied, and the content before it is shown",
        arguments: [NotificationContent.Text(locKey: "MSG"), .init(literal: "\n\u{FEFF}")])
    func stage(_ left: NotificationContent.Text) async throws {
        let stage = TestStage { content in
            content = NotificationContent()
            content.body = left
        }
        let delivery = try await Self.show(TestPush(json: #"{"aps":{"alert":"Hello"}}"#).sealed()) {
            ($0.stages, $0.strings) = ([stage], ["MSG": "%@"])
        }
        #expect(delivery.content.body.literal == "Hello")
        #expect(delivery.failure == nil)
        #expect(delivery.stageFailures == [StageFailure(stage: stage.name, ending: .emptied)])
    }

}
