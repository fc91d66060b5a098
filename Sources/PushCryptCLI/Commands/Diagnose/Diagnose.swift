import ArgumentParser
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptKeystore
import PushCryptPrimitives

struct Diagnose: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagnose",
        abstract: "Say why a push isn't shown as it should be: the cause, the evidence, and what to do.",
        discussion: """
            Reads the payload from stdin or FILE: as it was sent to APNs, or as a relay or the device received it. \
            Give what you have; each input can show more. --report is a file that the app exports with DeviceReport. \
            --headers is a JSON object with the headers of the request to APNs ("apns-topic", "apns-push-type", ...) and, of its \
            answer, ":status" and "reason", or lines name: value as curl -v shows them. The input may also be \
            {"payload": PAYLOAD, "headers": OBJECT}, as simulate reads it, or a request to Firebase, Expo or OneSignal. --app reads every Info.plist and \
            .entitlements below the folder, and project.pbxproj. The secret of encrypted --keys is that of the settings, of \
            PUSHCRYPT_PASSPHRASE or of PUSHCRYPT_WRAP_COMMAND.

            Example: pushcrypt diagnose --topic com.example.app < payload.json

            Example: pushcrypt diagnose --topic com.example.app --registration record.json --headers headers.json < payload.json

            Neither the content of the push nor a key is printed. The first error is the cause; what comes after it \
            was also seen, and may be its effect. Warnings may be causes; notes need no action.

            The findings, which docs/diagnose.md explains: \
            \(Finding.Code.allCases.map(\.rawValue).joined(separator: ", ")).

            Exit status: 0 no errors, perhaps warnings; 65 errors; anything else: see pushcrypt --help.
            """)

    @OptionGroup var input: PayloadInput
    @Option(name: .customLong("topic"), help: .init("The app's bundle identifier. (default: PUSHCRYPT_TOPIC)", "TOPIC"))
    var givenTopic: String?
    @Option(help: .init("A test device's private or shared keys.", "FILE|Keys/NAME")) var keys: String?
    @Option(help: .init("The registration record that the backend has stored for the device.", "FILE"))
    var registration: String?
    @Option(help: .init("The public sender keys that the app pins. Repeat it for each sender.", "FILE|Keys/NAME"))
    var trust: [String] = []
    @OptionGroup var carriers: CarrierOptions
    @Option(help: .init("The headers of the request to APNs, and of its answer.", "FILE")) var headers: String?
    @Option(help: .init("The device's report.", "FILE")) var report: String?
    @Option(help: .init("The app's project or product.", "FOLDER")) var app: String?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions

    private var topic: String? { givenTopic ?? Defaults.topic }

    func run() throws {
        let places = EnvelopePlaces(carriers.set)
        let payload = ReceivedPayload(try input.readAll(limit: Self.inputLimitInBytes), at: places)
        if let count = payload.request?.count, count > 1 {
            throw Failure(.dataError, "\(input.name) is a request with \(count) messages: give one of them")
        }
        let facts = try facts(payload)
        let findings = Diagnosis.findings(facts)
        try StandardStreams.write(findings, asJSON: json) { terminal in
            DiagnosisText(findings: findings, facts: facts, terminal: terminal).text
        }
        let errors = findings.count { $0.severity == .error }
        guard errors == 0 else { throw Failure(.dataError, "\(NumberText.counted(errors, "error")) found") }
    }

    private func facts(_ payload: ReceivedPayload) throws -> Facts {
        if let topic { _ = try Topic(option: topic) }
        guard payload.requestHeaders == nil || headers == nil else {
            throw Failure(.usage, "\(input.name) has the headers of the request, so --headers can't be given, too")
        }
        // A finding names demo keys, so they are read like others.
        let access = KeyAccess(secrets: try SecretOptions.parse([]), allowsDemoKeys: true)
        let senders = try trust.enumerated().map { index, path in
            try KeySource(path, access, allowsPublic: true).trustedSenders(of: "\(index)")
        }
        return try Facts(
            payload: payload, topic: topic,
            keys: keys.map { try KeySource($0, access).openingKeyset(device: nil) },
            registration: registration.map { try Self.registration($0, at: timeOptions.time) },
            trusted: senders.isEmpty ? nil : TrustedSenders(senders),
            headers: headers.map { try RequestHeaders(file: $0) }
                ?? payload.requestHeaders.map { try RequestHeaders($0, in: input.name) },
            report: report.map(ReportFile.read), app: app.map { try AppFolder($0) }, time: timeOptions.time)
    }

    private static func registration(_ path: String, at time: UnixTime) throws -> Facts.Registration {
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
            return .key(keyset.primary(at: time) ?? keyset.entries[0])
        } catch let error as KeyError {
            return .unreadable(error)
        }
    }

    /// Sixteen times the limit of APNs.
    private static let inputLimitInBytes = 65_536
}
