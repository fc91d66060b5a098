import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// Metrics in the text format of Prometheus, version 0.0.4, for the textfile collector of the node exporter.
///
/// ```
/// # HELP NAME TEXT
/// # TYPE NAME gauge
/// NAME{LABEL="VALUE",...} NUMBER
/// ```
struct StatusMetrics {
    let text: String

    init(_ report: StatusReport) {
        var families = [
            Family("pushcrypt_status", "0 ok, 1 warning, 2 critical, 3 unknown.", [([], "\(report.level.rawValue)")]),
            Family("pushcrypt_status_timestamp_seconds", "When the status was determined.", [([], report.time.text)]),
        ]
        families += Self.ofSteps(report.keysets) + Self.ofKeys(report.keysets) + Self.ofChecks(report.keysets)
        text = families.filter { !$0.samples.isEmpty }.map(\.text).joined()
    }

    private static func ofSteps(_ keysets: [KeysetStatus]) -> [Family] {
        [
            Family("pushcrypt_keyset_status", "0 ok, 1 warning, 2 critical.", keysets) { "\($0.level.rawValue)" },
            Family("pushcrypt_keyset_due_steps", "Steps of the policy that rotate would carry out.", keysets) {
                $0.plan.map { "\($0.due.count)" }
            },
            Family(
                "pushcrypt_keyset_blocked_steps",
                "Steps that are due but blocked; 1 if rotate refuses the keyset and no step is due.", keysets
            ) { "\($0.blockedCount)" },
            Family("pushcrypt_keyset_overdue_seconds", "How long the oldest of these steps has been due.", keysets) {
                $0.plan == nil ? nil : "\($0.overdueInSeconds)"
            },
            Family("pushcrypt_keyset_next_step_timestamp_seconds", "When the next step will be due.", keysets) {
                $0.next?.dueAt.text
            },
        ]
    }

    private static func ofKeys(_ keysets: [KeysetStatus]) -> [Family] {
        let counts = keysets.flatMap { keyset -> [Sample] in
            guard let timeline = keyset.metadata?.timeline else { return [] }
            let states = timeline.keys.compactMap { timeline.state(of: $0.kid, at: keyset.time)?.description }
            return Set(states).sorted().map { state in
                ([("keyset", keyset.path), ("state", state)], "\(states.count { $0 == state })")
            }
        }
        return [
            Family("pushcrypt_keyset_seq", "The number of the last change.", keysets) {
                $0.metadata.map { "\($0.sequence)" }
            },
            Family("pushcrypt_keyset_last_change_timestamp_seconds", "When the keyset was changed last.", keysets) {
                $0.metadata?.timeline.updatedAt?.text
            },
            Family("pushcrypt_keyset_sealing_since_timestamp_seconds", "When the key in use began to seal.", keysets) {
                $0.metadata?.timeline.primary(at: $0.time)?.lifecycle.activatesAt?.text
            },
            Family("pushcrypt_keyset_keys", "Keys by their state.", counts),
        ]
    }

    private static func ofChecks(_ keysets: [KeysetStatus]) -> [Family] {
        let problems = keysets.flatMap { keyset in
            [("warning", "warning"), ("critical", "error")].map { name, severity -> Sample in
                let count = keyset.problems.count { $0.severity.rawValue == severity }
                return ([("keyset", keyset.path), ("severity", name)], "\(count)")
            }
        }
        let coverage = keysets.flatMap { keyset -> [Sample] in
            (keyset.coverage?.rows ?? []).filter { $0.coverage.seen > 0 }.map { row in
                let labels = [("keyset", keyset.path), ("kid", "\(row.kid)"), ("state", "\(row.state)")]
                return (labels, "\(Double(row.coverage.holding) / Double(row.coverage.seen))")
            }
        }
        return [
            Family("pushcrypt_keyset_problems", "Problems that keys doctor finds.", problems),
            Family("pushcrypt_keyset_clock_ok", "1 unless the clock seems wrong.", keysets) {
                $0.metadata == nil ? nil : $0.clockObjection == nil ? "1" : "0"
            },
            Family("pushcrypt_keyset_secret_ok", "1 if the secret was checked and is right, 0 if it isn't.", keysets) {
                [.right: "1", .wrong: "0", .unusable: "0"][$0.secret]
            },
            Family("pushcrypt_keyset_log_ok", "1 unless the audit log is broken or newer than the keyset.", keysets) {
                $0.logText.map { ["broken", "newer"].contains($0) ? "0" : "1" }
            },
            Family("pushcrypt_keyset_set_valid_until_timestamp_seconds", "The end of the signed set.", keysets) {
                $0.metadata?.signedSet?.validUntil.text
            },
            Family("pushcrypt_keyset_coverage_ratio", "The share of the devices that hold a key.", coverage),
        ]
    }

    private typealias Sample = (labels: [(String, String)], value: String)

    private struct Family {
        let name: String
        let help: String
        let samples: [Sample]

        init(_ name: String, _ help: String, _ samples: [Sample]) {
            (self.name, self.help, self.samples) = (name, help, samples)
        }

        /// - Parameter value: nil for a keyset without a value.
        init(_ name: String, _ help: String, _ keysets: [KeysetStatus], _ value: (KeysetStatus) -> String?) {
            let samples = keysets.compactMap { keyset in
                value(keyset).map { (labels: [("keyset", keyset.path)], value: $0) }
            }
            self.init(name, help, samples)
        }

        var text: String {
            let lines = samples.map { labels, value in
                let list = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
                return "\(name)\(list.isEmpty ? "" : "{\(list)}") \(value)\n"
            }
            return "# HELP \(name) \(help)\n# TYPE \(name) gauge\n" + lines.joined()
        }

        /// The format escapes only these three characters.
        private static func escaped(_ value: String) -> String {
            value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        }
    }
}

extension UnixTime {
    /// Unix seconds.
    fileprivate var text: String { "\(seconds)" }
}
