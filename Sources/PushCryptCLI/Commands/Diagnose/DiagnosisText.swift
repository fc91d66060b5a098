import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// The findings for people.
struct DiagnosisText {
    /// Narrower terminals break the lines.
    private static let smallestWidth = 40

    let faults: [Fault]
    let coverage: Coverage
    let terminal: TerminalText

    var text: String {
        let width = StandardStreams.columns(atLeast: Self.smallestWidth)
        var lines = faults.flatMap { fault -> [String] in
            let label = terminal.label(fault.severity.rawValue, fault.severity.style, width: 9)
            func wrapped(_ label: String, _ text: String) -> [String] {
                terminal.wrapped("         " + label, text, indent: 17, width: width)
            }
            let heading = label + terminal.styled(fault.name, .heading)
            return [heading] + terminal.wrapped("         ", fault.cause, indent: 9, width: width)
                + fault.evidence.flatMap { wrapped("seen:   ", $0) } + wrapped("do:     ", fault.advice) + [""]
        }
        lines += faults.contains { $0.severity == .error } ? more(width) : checked(width)
        return lines.joined(separator: "\n") + (lines.last == "" ? "" : "\n")
    }

    private func checked(_ width: Int) -> [String] {
        let title = faults.isEmpty ? "Nothing wrong was found in what was given." : "No error in what was given."
        let checked = coverage.checked.joined(separator: "; ")
        var lines = terminal.wrapped("", title, indent: 0, width: width)
        if let postQuantum = coverage.postQuantum {
            lines += terminal.wrapped("", "post-quantum: \(postQuantum)", indent: 9, width: width)
        }
        lines += terminal.wrapped("checked  ", checked, indent: 9, width: width)
        let options = coverage.missingOptions
        guard !options.isEmpty else { return lines }
        lines += terminal.wrapped(
            "", "not checked, because it wasn't given or is incomplete:", indent: 0, width: width)
        let indent = 2 + (options.map(\.count).max() ?? 0) + 2
        lines += options.flatMap { option in
            let missing = coverage.missing.filter { $0.option == option }.map(\.text).joined(separator: "; ")
            return terminal.wrapped("  " + option.padded(to: indent - 2), missing, indent: indent, width: width)
        }
        return lines
    }

    /// The inputs that can show more, where an error was found.
    private func more(_ width: Int) -> [String] {
        let options = coverage.optionsNotGiven
        guard !options.isEmpty else { return [] }
        return terminal.wrapped("", "To check more, give \(options.listed(with: "or")).", indent: 0, width: width)
    }
}

/// What was compared with the inputs that were given, and what a further input would show.
struct Coverage {
    private(set) var checked = ["the form of the payload"]
    private(set) var missing: [(option: String, text: String)] = []

    /// Whether the push stays secret from a quantum computer; nil if the key that it is sealed to wasn't given.
    let postQuantum: String?

    private let given: Set<String>

    /// Those of ``missingOptions`` that weren't given at all.
    var optionsNotGiven: [String] { missingOptions.filter { !given.contains($0) } }

    /// Each option once.
    var missingOptions: [String] {
        var seen = Set<String>()
        return missing.map(\.option).filter { seen.insert($0).inserted }
    }

    init(_ evidence: Evidence) {
        given = Set(evidence.given.map(\.option))
        postQuantum = evidence.sealingRecord.flatMap { record in
            record.algorithm.suite?.postQuantumText(hasPSK: record.hasPSK)
        }
        addTopics(evidence)
        addHeaders(evidence)
        addRegistration(evidence)
        addReport(evidence)
        addSenders(evidence)
        addKeys(evidence)
        addApp(evidence)
    }

    private mutating func add(_ text: String, _ isChecked: Bool, _ option: String) {
        if isChecked { checked.append(text) } else { missing.append((option, text)) }
    }

    private mutating func addTopics(_ evidence: Evidence) {
        let names = [
            ("--topic", evidence.topic), ("--headers", evidence.headers?.topic), ("--report", evidence.report?.topic),
            ("--app", evidence.app?.app?.identifier),
        ].filter { $0.1?.isEmpty == false }.map(\.0)
        if names.count > 1 {
            return add("whether \(names.listed(with: "and")) name the same topic", true, "")
        }
        if names.isEmpty || names == ["--headers"] {
            add("whether the topic is the app's bundle identifier", false, "--topic")
        } else {
            add("whether the request has this topic", false, "--headers")
        }
    }

    private mutating func addHeaders(_ evidence: Evidence) {
        guard let headers = evidence.headers else {
            return add("the request to APNs and its answer", false, "--headers")
        }
        add(
            "the headers of the request" + (headers.hasRequest ? "" : ", which aren't there"), headers.hasRequest,
            "--headers")
        let hasAnswer = headers.status != nil || headers.reason != nil
        add("the answer of APNs" + (hasAnswer ? "" : ", \":status\" and \"reason\""), hasAnswer, "--headers")
    }

    private mutating func addRegistration(_ evidence: Evidence) {
        guard evidence.registration != nil else {
            return add("the record that the backend has stored for the device", false, "--registration")
        }
        guard let record = evidence.registration?.entry?.record else {
            return add("the record", true, "--registration")
        }
        // All devices of a shared key have its id, so only opening compares the keys.
        let isShared = record.kind == .shared
        let isCompared =
            isShared ? opens(evidence) && isOpening(record, evidence) : record.kid == evidence.payload.kid
        add("the record" + (isCompared ? ", and whether the push is sealed to its key" : ""), true, "--registration")
        let what = evidence.hasKeys && !isShared ? "key and its psk" : "key"
        add(
            "whether the device has the record's \(what)",
            isShared ? evidence.keyDevice != nil : evidence.hasKeys || evidence.report?.keys != nil,
            isShared ? "--keys" : "--report")
    }

    /// Whether the push is opened with this device's key.
    private func isOpening(_ record: KeyRecord, _ evidence: Evidence) -> Bool {
        guard let device = record.deviceID, device == evidence.recipientDevice else { return false }
        return (try? evidence.keys?.entry(record.kid)?.device(device).record.isSameKey(as: record)) == true
    }

    private mutating func addReport(_ evidence: Evidence) {
        guard let report = evidence.report else {
            return add("the device's keys, counters and clock", false, "--report")
        }
        func part(_ name: String, _ isThere: Bool) {
            add("the device's \(name)" + (isThere ? "" : ", which the report lacks"), isThere, "--report")
        }
        part("keys", report.keys != nil || report.keyStorage != nil)
        part("counters", report.statistics != nil || report.store != nil)
        // A slow clock looks like an old report.
        if evidence.reportAge <= Freshness.toleranceInSeconds { return part("clock", true) }
        let age = TimeFaults.duration(evidence.reportAge)
        add("whether the device's clock is slow: the report is \(age) old by it", false, "--report")
    }

    private mutating func addSenders(_ evidence: Evidence) {
        let isSigned = evidence.payload.skid != nil
        add(
            isSigned ? "whether the app trusts the sender's key" : "whether the app opens unsigned pushes",
            evidence.payload.kid != nil && (evidence.senders != nil || evidence.report?.senders != nil), "--trust")
        guard isSigned, opens(evidence) else { return }
        add("whether its signature is valid", evidence.trial?.hasValidSignature != nil, "--trust")
    }

    private func opens(_ evidence: Evidence) -> Bool { evidence.trial?.differences == [] }

    private mutating func addKeys(_ evidence: Evidence) {
        guard opens(evidence), let topic = evidence.expectedTopic else {
            guard evidence.hasKeys else {
                return add(
                    "whether the push is complete, was sealed for the app's topic and opens; its age", false, "--keys")
            }
            let needed = neededToOpen(evidence)
            return add("whether the push opens" + (needed.isEmpty ? "" : "; this needs \(needed)"), false, "--keys")
        }
        let opens =
            evidence.payload.skid == nil || evidence.trial?.hasValidSignature != nil ? "opens" : "can be decrypted"
        add("whether the push is complete, was sealed for \(topic) and \(opens)", true, "--keys")
        if evidence.trial?.header != nil { add("its age", true, "--keys") }
    }

    /// What is missing beside the keys.
    private func neededToOpen(_ evidence: Evidence) -> String {
        let hasKey = evidence.payload.kid.map { evidence.keys?.entry($0) != nil } ?? true
        return [
            evidence.expectedTopic == nil ? "--topic" : nil, evidence.trial?.lacksDevice == true ? "--device" : nil,
            hasKey ? nil : "the key that the push is sealed to",
        ].compactMap(\.self).joined(separator: " and ")
    }

    private mutating func addApp(_ evidence: Evidence) {
        guard let app = evidence.app else {
            return add("entitlements, property lists and targets of app and extension", false, "--app")
        }
        let hasEntitlements = !app.appEntitlements.isEmpty && !app.serviceEntitlements.isEmpty
        add("the entitlements of app and extension", hasEntitlements, "--app")
        add("the property lists of app and extension", app.app != nil && app.service != nil, "--app")
        add("the targets of the app's project", app.hasProject, "--app")
    }
}
