import PushCryptKeystore

/// Something that keeps a push from being shown as it should be.
struct Fault: Encodable {
    let severity: Finding.Severity
    /// A stable name, for scripts and for docs/diagnose.md.
    let name: String
    let cause: String
    /// What was read, and where. It contains no plaintext and no key, because people pass it on.
    let evidence: [String]
    let advice: String
    /// The names of faults that are only consequences of this one.
    var hides: [String] = []
    /// Whether this is an effect whose cause another fault names, if there is another error.
    var isSymptom = false

    private enum CodingKeys: CodingKey { case severity, name, cause, evidence, advice }

    /// An error.
    init(
        _ name: String, _ cause: String, _ evidence: [String], do advice: String, hides: [String] = [],
        isSymptom: Bool = false
    ) {
        self.init(.error, name, cause, evidence, do: advice, hides: hides, isSymptom: isSymptom)
    }

    init(
        _ severity: Finding.Severity, _ name: String, _ cause: String, _ evidence: [String], do advice: String,
        hides: [String] = [], isSymptom: Bool = false
    ) {
        (self.severity, self.name, self.cause, self.evidence) = (severity, name, cause, evidence)
        (self.advice, self.hides, self.isSymptom) = (advice, hides, isSymptom)
    }
}

/// Finds one fault in the evidence; nil if it isn't there.
typealias Detector = @Sendable (Evidence) -> Fault?

enum Diagnosis {
    /// The most certain first: the form of the payload can be seen, what a device does can only be concluded.
    private static let detectors: [Detector] =
        PayloadFaults.all + RequestFaults.all + KeyFaults.all + SenderFaults.all + TimeFaults.all + AppFaults.all
        + DeviceFaults.all

    /// The faults, errors first. A consequence of another fault is left out.
    static func faults(in evidence: Evidence) -> [Fault] {
        let found = detectors.compactMap { $0(evidence) }
        let hidden = Set(found.flatMap(\.hides))
        let left = found.filter { !hidden.contains($0.name) }
        let hasCause = left.contains { $0.severity == .error && !$0.isSymptom }
        let shown = left.filter { !($0.isSymptom && hasCause) }
        return Finding.Severity.allCases.flatMap { severity in shown.filter { $0.severity == severity } }
    }
}
