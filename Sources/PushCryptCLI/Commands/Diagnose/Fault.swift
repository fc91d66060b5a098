import PushCryptExtension
import PushCryptKeystore

/// An effect on the device, whose cause other findings may show.
enum Symptom: Hashable {
    /// The extension failed so: it counted the failure, or left it in the placeholder.
    case failure(FailureClass)
    /// The extension counted no push.
    case noPush
}

/// Something that keeps a push from being shown as it should be.
struct Fault: Encodable {
    enum Severity: String, Encodable, CaseIterable {
        /// No push is shown as it should be, or the keys or the request are refused.
        case error
        /// Some pushes aren't, or soon none will be.
        case warning
        /// Nothing has to be done.
        case note

        var style: TerminalText.Style {
            switch self {
            case .error: .bad
            case .warning: .warning
            case .note: .faint
            }
        }
    }

    let severity: Severity
    /// A stable name, for scripts and for docs/diagnose.md.
    let name: String
    let cause: String
    /// What was read, and where. It contains no plaintext and no key, because people pass it on.
    fileprivate(set) var evidence: [String]
    let advice: String
    /// The names of faults that are only consequences of this one.
    let hides: [String]
    /// The effects on the device that this causes. What the device says about them is added to the evidence.
    let explains: [Symptom]
    /// The effect that this finding only names. It is hidden if an error explains it.
    let symptom: Symptom?

    private enum CodingKeys: CodingKey { case severity, name, cause, evidence, advice }

    /// An error.
    init(
        _ name: String, _ cause: String, _ evidence: [String], do advice: String, hides: [String] = [],
        explains: [Symptom] = [], symptom: Symptom? = nil
    ) {
        self.init(
            .error, name, cause, evidence, do: advice, hides: hides, explains: explains, symptom: symptom)
    }

    init(
        _ severity: Severity, _ name: String, _ cause: String, _ evidence: [String], do advice: String,
        hides: [String] = [], explains: [Symptom] = [], symptom: Symptom? = nil
    ) {
        (self.severity, self.name, self.cause, self.evidence) = (severity, name, cause, evidence)
        (self.advice, self.hides, self.explains, self.symptom) = (advice, hides, explains, symptom)
    }
}

/// Finds one fault in the evidence; nil if it isn't there.
typealias Detector = @Sendable (Evidence) -> Fault?

enum Diagnosis {
    /// The most certain first: the form of the payload can be seen, what a device does can only be concluded.
    private static let detectors: [Detector] =
        PayloadFaults.all + RequestFaults.all + KeyFaults.all + SenderFaults.all + TimeFaults.all + AppFaults.all
        + DeviceFaults.all

    /// The cause of a failure that the payload and the keys show without a decryption; nil if they don't show one.
    ///
    /// - Parameter evidence: without a topic, so that nothing is tried.
    static func visibleCause(of failure: FailureClass, in evidence: Evidence) -> Fault? {
        let found = detectors.compactMap { $0(evidence) }
        let hidden = Set(found.flatMap(\.hides))
        return found.first {
            $0.severity == .error && !hidden.contains($0.name) && $0.explains.contains(.failure(failure))
        }
    }

    /// The faults, errors first. A consequence of another fault is left out.
    static func faults(in evidence: Evidence) -> [Fault] {
        let found = detectors.compactMap { $0(evidence) }
        let hidden = Set(found.flatMap(\.hides))
        let left = found.filter { !hidden.contains($0.name) }
        let explained = Set(left.filter { $0.severity == .error }.flatMap(\.explains))
        let shown = left.filter { !($0.symptom.map(explained.contains) ?? false) }.map { fault in
            var fault = fault
            for case .failure(let failure) in fault.explains { fault.evidence += evidence.seen(failure) }
            return fault
        }
        return Fault.Severity.allCases.flatMap { severity in shown.filter { $0.severity == severity } }
    }
}
