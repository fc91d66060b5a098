import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// An app on a simulated device, with the files that its operator would have: the record that the backend stores, the
/// device's report, and the device's keys.
struct InstalledApp {
    static let topic = "com.example.app"
    static let extensionID = topic + ".NotificationService"
    static let start = UnixTime(1_800_000_000)
    /// The text that no output may contain.
    static let (title, body) = ("Dr. Amara Osei", "Biopsy benign")

    let place: Workplace
    let clock: SimulatedClock
    let device: SimulatedDevice
    let keyring: FileKeyring
    let senders: SenderTrust

    /// What an app or its extension may have got wrong.
    struct Setup: Sendable {
        var suite = Suite.p256
        var withPSK = true
        var senders = SenderTrust.unsigned
        /// Of the extension.
        var topic = InstalledApp.topic
        /// Whether the extension finds the folder of the app.
        var sharesFolder = true
        var hasExtension = true
    }

    init(_ setup: Setup = Setup()) async throws {
        place = try Workplace()
        clock = SimulatedClock(startingAt: Self.start)
        keyring = FileKeyring(folder: place.folder.path + "/keys")
        senders = setup.senders
        for name in ["pushes", "own"] { try place.makeFolder(name) }
        let identity = Self.identity(keyring, clock, setup)
        try identity.confirmRegistered(identity.makeIfNeeded())
        let folder = place.folder.path + (setup.sharesFolder ? "" : "/own")
        let configure: @Sendable (SimulatedDevice) throws -> ExtensionConfiguration = { device in
            var configuration = try ExtensionConfiguration(
                topic: setup.topic, keyring: FileKeyring(folder: folder + "/keys"), senders: setup.senders,
                fallback: .outerAlert(orElse: .standard))
            configuration.store = SharedStore(folder: folder + "/pushes", role: .extension)
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: folder + "/attachments"),
                transport: device.network)
            return configuration
        }
        device = SimulatedDevice(
            topic: Self.topic, clock: clock, extension: setup.hasExtension ? configure : nil)
        _ = try await device.center.requestAuthorization([.alert, .sound, .badge])
    }

    private static func identity(_ keyring: FileKeyring, _ clock: SimulatedClock, _ setup: Setup) -> DeviceIdentity {
        DeviceIdentity(
            storage: keyring, options: .init(suite: setup.suite, withPSK: setup.withPSK), clock: { clock.time })
    }

    var identity: DeviceIdentity { Self.identity(keyring, clock, Setup()) }

    /// The record that the app uploads, as the backend stores it.
    func record() throws -> Data { try identity.makeIfNeeded().requestBody }

    /// The file with the device's private keys.
    func keyFile() throws -> String { "keys/\(try #require(keyring.keyIDs().first)).jwks.json" }

    // MARK: The backend

    func seal(
        to record: Data? = nil, topic: String = topic, by signer: SenderKey? = nil, options: Sealer.Options = .init(),
        at time: UnixTime? = nil
    ) throws -> Data {
        let time = time ?? clock.time
        let sealer = try Sealer(topic: topic, signer: signer.map(Signer.key), options: options, clock: { time })
        let push = PushNotification(title: Self.title, body: Self.body)
        return try sealer.seal(push, to: Recipient(jwk: record ?? self.record()), placeholder: .standard).json
    }

    // MARK: The device

    /// Delivers a push that must fail: the device doesn't show its text.
    @discardableResult
    func fail(_ payload: Data, _ headers: PushHeaders? = nil, location: SourceLocation = #_sourceLocation) async
        -> SimulatedDevice.Reception
    {
        let reception = await device.receive([UInt8](payload), headers)
        #expect(!reception.isRestored, "the run isn't misconfigured", sourceLocation: location)
        return reception
    }

    /// Delivers a push that must be restored.
    func succeed(_ payload: Data, location: SourceLocation = #_sourceLocation) async {
        let reception = await device.receive([UInt8](payload))
        #expect(reception.isRestored && reception.failure == nil, "\(reception)", sourceLocation: location)
    }

    // MARK: The operator

    func writeReport(keys: (any DeviceKeyStorage)? = nil, topic: String = topic, to name: String = "report.json") throws
    {
        var report = DeviceReport(
            topic: topic, keys: keys ?? keyring, senders: senders,
            store: SharedStore(folder: place.folder.path + "/pushes", role: .app), at: device.time)
        report.allowsAlerts = device.center.currentSettings.showsAlerts
        try place.write(report.json(), to: name)
    }

    /// Writes the report with changed counters, as another history of the device would have made it.
    func writeReport(counters change: (inout [String: Any]) throws -> Void) throws {
        try writeReport()
        let report = try Payload.changing(place.read("report.json"), "statistics", change)
        try place.write(report, to: "report.json")
    }

    /// A counter of a report.
    ///
    /// - Parameter kid: the key of the last push; nil for the device's first one.
    func counter(_ kid: String? = nil, at time: UnixTime? = nil) throws -> [String: Any] {
        let kid = try kid ?? "\(#require(keyring.keyIDs().first))"
        return ["count": 1, "recentCount": 1, "lastTime": (time ?? clock.time).seconds, "lastKid": kid]
    }

    func write(_ data: Data, to name: String) throws -> String {
        try place.write(data, to: name)
        return name
    }

    /// Runs `pushcrypt diagnose` at the true time.
    func diagnose(_ payload: Data, _ arguments: String..., at time: UnixTime? = nil) throws -> Diagnosed {
        try Diagnosed(place, payload, arguments, at: time ?? clock.time)
    }
}

/// The output of `pushcrypt diagnose`.
struct Diagnosed: CustomTestStringConvertible {
    struct Found: Decodable, Hashable {
        let severity: String
        let name: String
        let cause: String
        let evidence: [String]
        let advice: String
    }

    let found: [Found]
    let text: String
    /// Runs the command twice, as JSON and as text. Whatever the run, no output may contain text of the push or a secret of a
    /// file.
    init(_ place: Workplace, _ payload: Data, _ arguments: [String], at time: UnixTime) throws {
        let arguments = ["diagnose", "--at", "\(time.seconds)"] + arguments
        let json = try place.run(arguments + ["--json"], stdin: payload)
        try #require(json.exit == 0 || json.exit == 65 && json.stderr.contains("found"), "\(json)")
        found = try JSONDecoder().decode([Found].self, from: json.stdout)
        let hasError = found.contains { $0.severity == "error" }
        #expect(json.exit == (hasError ? 65 : 0))
        let output = try place.run(arguments, stdin: payload)
        text = output.text
        #expect(output.exit == json.exit)
        for finding in found { #expect(text.contains(finding.severity) && text.contains(finding.name)) }
        for secret in try Self.secrets(in: place) {
            for printed in [text, json.text, json.stderr, output.stderr] { #expect(!printed.contains(secret)) }
        }
    }

    /// The first finding; one without a name if there is none.
    var first: Found {
        found.first ?? Found(severity: "", name: "", cause: "", evidence: [], advice: "")
    }

    var names: [String] { found.map(\.name) }
    /// The name of the first error, which is the cause; empty if there is none.
    var cause: String { errors.first ?? "" }
    var errors: [String] { found.filter { $0.severity == "error" }.map(\.name) }
    var warnings: [String] { found.filter { $0.severity == "warning" }.map(\.name) }
    var testDescription: String { text }

    /// The content of the push, and the private members of every key in the workplace.
    private static func secrets(in place: Workplace) throws -> Set<String> {
        var secrets: Set<String> = [InstalledApp.title, InstalledApp.body]
        for (_, data) in try place.contents(of: ".") {
            let text = String(decoding: data, as: UTF8.self)
            for match in text.matches(of: /"(?:d|k|psk)"\s*:\s*"([A-Za-z0-9_-]{43})"/) {
                secrets.insert(String(match.1))
            }
        }
        return secrets
    }
}
