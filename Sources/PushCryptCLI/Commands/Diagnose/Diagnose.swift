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
        abstract: "Say why a push isn't shown as it should be: the cause, the evidence, and what to do.",
        discussion: """
            Reads the payload from stdin: as it was sent to APNs, or as a relay or the device received it. Give what you \
            have; each input can show more. --report is a file that the app exports with DeviceReport. --headers is a \
            JSON object with the headers of the request to APNs ("apns-topic", "apns-push-type", ...) and, of its answer, \
            ":status" and "reason", or lines name: value as curl -v shows them. --app reads every Info.plist, .entitlements and .swift below \
            the folder, and project.pbxproj.

            Examples: pushcrypt diagnose --topic com.example.app < payload.json, or with all that a backend has: \
            pushcrypt diagnose --topic com.example.app --registration record.json --headers headers.json < payload.json

            Neither the content of the push nor a key is printed. Errors are causes; warnings may be causes; notes need no \
            action. The names of the findings are in docs/diagnose.md.

            Exit status: 0 no errors, perhaps warnings; 65 errors; anything else: see pushcrypt --help.
            """)

    @Option(help: .init("The app's bundle identifier.", "TOPIC")) var topic: String?
    @Option(help: .init("A test device's private or shared keys.", "FILE|Keys/NAME")) var keys: String?
    @Option(help: .init("The registration record that the backend has stored for the device.", "FILE"))
    var registration: String?
    @Option(help: .init("The device's id, if it has a key of a shared keyset.", "ID")) var device: String?
    @Option(help: .init("The sender keys that the app pins; none if it opens unsigned pushes.", "FILE|none"))
    var trust: String?
    @Option(help: .init("The app's pins; needed if --trust is a signed sender set.", "FILE")) var pins: String?
    @Option(help: .init("The headers of the request to APNs, and of its answer.", "FILE")) var headers: String?
    @Option(help: .init("The device's report.", "FILE")) var report: String?
    @Option(help: .init("The app's project or product.", "FOLDER")) var app: String?
    @Flag(help: "Print JSON: an array of objects.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var demoKeys: DemoKeyOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        try RepeatedOptions.refuse(of: Self.self)
        guard pins == nil || trust != nil && trust != "none" else {
            throw ValidationError("--pins needs --trust FILE.")
        }
        guard pins == nil || topic != nil else {
            throw ValidationError("--pins needs --topic: a signed set names its apps.")
        }
    }

    var keyAccess: KeyAccess { KeyAccess(secrets: secrets, allowsDemoKeys: demoKeys.isAllowed) }

    func run() throws {
        let payload = try StandardStreams.readAll(limit: Self.inputLimitInBytes)
        guard payload.count <= Self.inputLimitInBytes else {
            throw Failure(.dataError, "more than \(Self.inputLimitInBytes) bytes on stdin: not a payload")
        }
        var evidence = try evidence(ReceivedPayload(payload))
        evidence.acceptsDemoKeys = demoKeys.isAllowed
        let faults = Diagnosis.faults(in: evidence)
        try StandardStreams.write(faults, asJSON: json) { terminal in
            DiagnosisText(faults: faults, evidence: evidence, terminal: terminal).text
        }
        let errors = faults.count { $0.severity == .error }
        guard errors == 0 else { throw Failure(.dataError, "\(NumberText.counted(errors, "error")) found") }
    }

    private func evidence(_ payload: ReceivedPayload) throws -> Evidence {
        if let topic { _ = try Topic(topic) }
        return Evidence(
            payload: payload, topic: topic,
            keys: try keys.map { try KeySource($0, keyAccess).openingKeyset(device: nil) },
            device: try DeviceID(option: device),
            registration: try registration.map { try Self.registration($0, at: timeOptions.time) },
            senders: try trust.map(senders), headers: try headers.map { try RequestHeaders(file: $0) },
            report: try report.map(Self.report), app: try app.map { try AppFolder($0) }, time: timeOptions.time)
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

    private func senders(_ path: String) throws -> Evidence.Senders {
        if path == "none" { return .unsigned }
        guard let (document, app) = try SignedSetFile.contents(path, pins: pins) else {
            return .trusted(try KeySource(path, keyAccess, allowsPublic: true).trustedSenders())
        }
        do {
            let set = try SignedSenderSet.verify(document, publishers: app.publishers)
            let state = try SenderSetState(
                accepting: set, pins: app, topic: Topic(topic ?? ""), stored: nil, at: timeOptions.time)
            return .trusted(try TrustedSenders(set, revoked: state.revoked, graceInSeconds: 0))
        } catch let error as KeyError {
            return .refused(error)
        }
    }

    private static func report(_ path: String) throws -> DeviceReport {
        let bytes = try FileSystem.readFile(path)
        do { return try DeviceReport(json: Data(bytes)) } catch {
            throw Failure(.dataError, "\(path) is not a device's report: the app makes it with DeviceReport")
        }
    }

    /// Sixteen times the limit of APNs.
    private static let inputLimitInBytes = 65_536
}

/// The findings for people.
struct DiagnosisText {
    let faults: [Fault]
    let evidence: Evidence
    let terminal: TerminalText

    var text: String {
        let width = StandardStreams.columns
        var lines = faults.flatMap { fault -> [String] in
            let label = terminal.label(fault.severity.rawValue, fault.severity.style, width: 9)
            func wrapped(_ label: String, _ text: String) -> [String] {
                terminal.wrapped("         " + label, text, indent: 17, width: width)
            }
            let heading = label + terminal.styled(fault.name, .heading)
            return [heading] + terminal.wrapped("         ", fault.cause, indent: 9, width: width)
                + fault.evidence.flatMap { wrapped("seen:   ", $0) } + wrapped("do:     ", fault.advice) + [""]
        }
        if !faults.contains(where: { $0.severity == .error }) { lines += unfound(width) }
        return lines.joined(separator: "\n") + (lines.last == "" ? "" : "\n")
    }

    private func unfound(_ width: Int) -> [String] {
        let inputs = Self.inputs(evidence)
        let checked = inputs.filter(\.isGiven).map(\.examines)
        let title = faults.isEmpty ? "Nothing wrong was found in what was given." : "No error in what was given."
        var lines = [title] + terminal.wrapped("checked  ", checked.joined(separator: "; "), indent: 9, width: width)
        let missing = inputs.filter { !$0.isGiven }
        if !missing.isEmpty {
            lines.append("not checked, because it wasn't given or is incomplete:")
            let indent = 2 + (missing.map(\.option.count).max() ?? 0) + 2
            lines += missing.flatMap {
                terminal.wrapped("  " + $0.option.padded(to: indent - 2), $0.examines, indent: indent, width: width)
            }
        }
        return lines
    }

    private static func inputs(_ evidence: Evidence) -> [(option: String, isGiven: Bool, examines: String)] {
        let opens = evidence.trial?.differences?.isEmpty == true
        return [
            ("payload", true, "the form of the payload"),
            (
                "--topic", evidence.topic != nil || evidence.report != nil || evidence.app?.app?.identifier != nil,
                "whether the topic is the app's bundle identifier"
            ),
            ("--headers", evidence.headers != nil, "the request to APNs and its answer"),
            (
                "--registration", evidence.registration != nil,
                "whether the backend has a usable record of this device's key"
            ),
            ("--report", evidence.report != nil, "the device's keys, clock and counters"),
            (
                "--trust", evidence.senders != nil || evidence.report?.senders != nil,
                "whether the app trusts the sender"
            ),
            (
                "--keys", opens,
                evidence.keys != nil && !opens
                    ? "whether the push opens; this needs --topic and the key that the push is sealed to"
                    : "whether the push is complete and opens, and its age"
            ),
            ("--app", evidence.app != nil, "entitlements, property lists and targets of app and extension"),
        ]
    }
}
