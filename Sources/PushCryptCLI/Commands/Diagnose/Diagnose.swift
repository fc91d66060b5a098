import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeystore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct Diagnose: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Say why a push isn't shown as it should be: the cause, the evidence, and what to do.",
        discussion: """
            Reads the payload from stdin or FILE: as it was sent to APNs, or as a relay or the device received it. Give what you \
            have; each input can show more. --report is a file that the app exports with DeviceReport. --headers is a \
            JSON object with the headers of the request to APNs ("apns-topic", "apns-push-type", ...) and, of its answer, \
            ":status" and "reason", or lines name: value as curl -v shows them. The input may also be {"payload": PAYLOAD, "headers": OBJECT}, as simulate \
            reads it. --app reads every Info.plist, .entitlements and .swift below \
            the folder, and project.pbxproj.

            Example: pushcrypt diagnose --topic com.example.app < payload.json

            Example: pushcrypt diagnose --topic com.example.app --registration record.json --headers headers.json < payload.json

            --trust none stands for an app that pins no sender and opens only unsigned pushes.

            Neither the content of the push nor a key is printed. Errors are causes; warnings may be causes; notes need no \
            action. The names of the findings are in docs/diagnose.md.

            Exit status: 0 no errors, perhaps warnings; 65 errors; anything else: see pushcrypt --help.
            """)

    @OptionGroup var input: PayloadInput
    @Option(name: .customLong("topic"), help: .init("The app's bundle identifier. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(help: .init("A test device's private or shared keys.", "FILE|Keys/NAME")) var keys: String?
    @Option(help: .init("The registration record that the backend has stored for the device.", "FILE"))
    var registration: String?
    @Option(parsing: .unconditional, help: .init("The device's id, if it has a key of a shared keyset.", "ID"))
    var device: String?
    @OptionGroup var senders: TrustOptions
    @Option(help: .init("The headers of the request to APNs, and of its answer.", "FILE")) var headers: String?
    @Option(help: .init("The device's report.", "FILE")) var report: String?
    @Option(help: .init("The app's project or product.", "FOLDER")) var app: String?
    @Flag(help: "Print JSON: an array of objects.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var topic: String? { givenTopic ?? Defaults.topic }

    func validate() throws {
        guard senders.trust == ["none"] ? senders.pins.isEmpty : !senders.trust.contains("none") else {
            throw ValidationError(
                "--trust none is for an app that pins no sender: it can't be given with other senders.")
        }
        guard senders.pins.isEmpty || topic != nil else {
            throw ValidationError("--pins needs --topic: a signed set names its apps.")
        }
        guard device == nil || keys != nil || registration != nil else {
            throw ValidationError("--device needs --keys or --registration of a shared key.")
        }
        guard !secrets.isNamed || keys != nil || senders.isGiven else {
            throw ValidationError("\(secrets.name) needs --keys or --trust.")
        }
    }

    var keyAccess: KeyAccess { KeyAccess(secrets: secrets, allowsDemoKeys: demoKeys.isAllowed) }

    func run() throws {
        let payload = try input.readAll(limit: Self.inputLimitInBytes)
        var evidence = try evidence(ReceivedPayload(payload))
        evidence.acceptsDemoKeys = demoKeys.isAllowed
        let faults = Diagnosis.faults(in: evidence)
        try StandardStreams.write(faults, asJSON: json) { terminal in
            DiagnosisText(faults: faults, coverage: Coverage(evidence), terminal: terminal).text
        }
        let errors = faults.count { $0.severity == .error }
        guard errors == 0 else { throw Failure(.dataError, "\(NumberText.counted(errors, "error")) found") }
    }

    private func evidence(_ payload: ReceivedPayload) throws -> Evidence {
        if let topic { _ = try Topic(option: topic) }
        let keys = try keys.map { try KeySource($0, keyAccess).openingKeyset(device: nil) }
        let registration = try registration.map { try Self.registration($0, at: timeOptions.time) }
        guard payload.requestHeaders == nil || headers == nil else {
            throw Failure(.usage, "\(input.name) has the headers of the request, so --headers can't be given, too")
        }
        let requestHeaders =
            try headers.map { try RequestHeaders(file: $0) }
            ?? payload.requestHeaders.map { try RequestHeaders($0, in: input.name) }
        let kinds = [keys?.kind, registration?.entry?.record.kind].compactMap(\.self)
        if device != nil, let kind = kinds.first, !kinds.contains(.shared) {
            throw Failure(.usage, "--device is only for a shared key; the keys are \(kind.rawValue) keys")
        }
        return Evidence(
            payload: payload, topic: topic, keys: keys, device: try DeviceID(option: device),
            registration: registration, senders: try trusted(),
            headers: requestHeaders,
            report: try report.map(ReportFile.read), app: try app.map { try AppFolder($0) }, time: timeOptions.time,
            given: given(hasHeaders: requestHeaders != nil))
    }

    private func given(hasHeaders: Bool) -> Set<EvidenceInput> {
        let inputs: [(EvidenceInput, Bool)] = [
            (.topic, topic != nil), (.keys, self.keys != nil), (.registration, registration != nil),
            (.device, device != nil), (.trust, senders.isGiven), (.headers, hasHeaders), (.report, report != nil),
            (.app, app != nil), (.time, timeOptions.givenTime != nil),
        ]
        return Set(inputs.filter(\.1).map(\.0))
    }

    private static func registration(_ path: String, at time: UnixTime) throws -> Evidence.Registration {
        var bytes = try FileSystem.readFile(path)
        defer { wipe(&bytes) }
        if (try? JSONText(bytes))?.root.kind == .string {
            return .unreadable(KeyError(.invalidKey, "a JSON text in a JSON string: it was encoded twice"))
        }
        do {
            let keyset = try Keyset(json: bytes)
            guard [.recipient, .shared].contains(keyset.kind) else {
                return .unreadable(KeyError(.wrongKind, "it is a \(keyset.kind.rawValue)'s key, not that of a device"))
            }
            let entry = keyset.primary(at: time) ?? keyset.entries[0]
            return .key(entry)
        } catch let error as KeyError {
            return .unreadable(error)
        }
    }

    /// nil if no --trust is given.
    private func trusted() throws -> Evidence.Senders? {
        guard senders.isGiven else { return nil }
        if senders.trust == ["none"] { return .unsigned }
        do {
            let sets = try senders.read { path, pins, sender in
                guard let pins else {
                    return try KeySource(path, keyAccess, allowsPublic: true).trustedSenders(of: sender)
                }
                let (document, app) = try SignedSetFile.contents(path, pins: pins)
                let set = try SignedSenderSet.verify(document, publishers: app.publishers)
                let state = try SenderSetState(
                    accepting: set, pins: app, topic: Topic(topic ?? ""), stored: nil, at: timeOptions.time)
                return try TrustedSenders(set, revoked: state.revoked, graceInSeconds: 0)
            }
            return .trusted(TrustedSenders(sets))
        } catch let error as KeyError {
            return .refused(error)
        }
    }

    /// Sixteen times the limit of APNs.
    private static let inputLimitInBytes = 65_536
}
