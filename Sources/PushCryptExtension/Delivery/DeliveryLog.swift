/// Writes one line for each push: the failure class, the names of the stages, and durations. A line has no content, no id and
/// no key, so a log may show it to everyone.
///
/// ```
/// opened in 812 ms: open 2 ms, attachments 806 ms, store 1 ms
/// attachmentFailed, text opened, in 8004 ms: open 2 ms, attachments 8000 ms timedOut, store 1 ms
/// undecryptable in 3 ms: open 2 ms, store 0 ms
/// opened, suppressed, in 4 ms: open 2 ms, store 1 ms
/// ```
public struct DeliveryLog: DeliveryReporter {
    private let write: @Sendable (String) -> Void

    /// Creates a log. `write` receives each line without its end.
    public init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes the line of a report.
    public func report(_ report: DeliveryReport) { write(Self.line(report)) }

    static func line(_ report: DeliveryReport) -> String {
        var outcome =
            switch report.failure {
            case let failure? where report.isRestored: "\(failure), text opened,"
            case let failure?: "\(failure)"
            case nil: report.isRestored ? "opened" : "unsealed"
            }
        if report.isSuppressed { outcome += outcome.hasSuffix(",") ? " suppressed," : ", suppressed," }
        let endings = Dictionary(report.stageFailures.map { ($0.stage, $0.ending) }, uniquingKeysWith: { $1 })
        let steps = report.durations.map { step in
            "\(step.name) \(milliseconds(step.duration))" + (endings[step.name].map { " \($0)" } ?? "")
        }
        return "\(outcome) in \(milliseconds(report.duration)): \(steps.joined(separator: ", "))"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        "\(Int64(duration / .milliseconds(1))) ms"
    }
}
