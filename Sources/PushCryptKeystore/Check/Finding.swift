package import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// A problem or a fact that `keys doctor` reports about a keystore.
package struct Finding: Hashable, Sendable, Encodable {
    package enum Severity: String, Hashable, Sendable, Encodable, CaseIterable {
        /// A command refuses the keyset, or other users can read a secret.
        case error
        /// Commands work, but the operator should fix it.
        case warning
        /// Nothing has to be done now.
        case note
    }

    package let severity: Severity
    /// The path of the keyset, or of another file or folder in the keystore.
    package let keyset: String
    /// A stable name of the kind of finding, for scripts.
    package let code: String
    package let message: String
    /// How to correct it: a shell command or a sentence.
    package let advice: String
    /// When the step of `rotate` was due that the finding is about. It isn't in the JSON.
    private let dueAt: UnixTime?

    private enum CodingKeys: CodingKey {
        case severity, keyset, code, message, advice
    }

    init(
        severity: Severity, keyset: String, code: String, message: String, advice: String, dueAt: UnixTime? = nil
    ) {
        assert(Self.codes.contains(code), "\(code) isn't in Finding.codes")
        (self.severity, self.keyset, self.code) = (severity, keyset, code)
        (self.message, self.advice, self.dueAt) = (message, advice, dueAt)
    }

    /// The finding as an error, if it is a warning about a step that has been due for more days.
    package func raised(afterDays days: Int64, at time: UnixTime) -> Finding {
        guard severity == .warning, let dueAt, dueAt + days * 86_400 < time else { return self }
        return Finding(
            severity: .error, keyset: keyset, code: code,
            message: "\(message); `rotate` should have done it at \(dueAt), more than \(days) days ago",
            advice: advice, dueAt: dueAt)
    }

    /// - Parameter error: why a file or folder can't be read.
    static func unreadable(_ keyset: String, _ error: any Error) -> Finding {
        let cause = error as? FileError ?? (error as? KeystoreError)?.cause
        let isRefused = cause?.code == .noPermission
        return Finding(
            severity: .error, keyset: keyset, code: "unreadable", message: cause?.fault ?? "\(error)",
            advice: cause?.correction
                ?? cause?.owner.map { "work as user \($0)" }
                ?? (isRefused ? "work as a user who may read it" : "find out why the system can't read it"))
    }

    /// - Parameter error: why there is no keyset, or no keystore.
    package static func missing(_ path: String, _ error: any Error) -> Finding {
        Finding(
            severity: .error, keyset: path, code: "missing", message: "\(error)",
            advice:
                "check the path; if the folder was renamed, rename it back; if all its keysets were moved away, leave it out; if the folder "
                + "is lost, restore it from the newest backup: "
                + "docs/runbooks/restore-a-backup.md")
    }

    /// All codes.
    package static let codes: Set = [
        "audit-broken", "clock", "clock-skew", "copied-keyset", "damaged", "demo-keys", "expired", "expiring",
        "foreign-file",
        "future-file", "hook-damaged", "hook-unfinished", "later-version", "lives", "loose-mode", "malformed",
        "misplaced", "missing", "no-digest", "no-publish-lead", "no-sealing-key", "no-writer", "not-encrypted",
        "old-log", "other-writer", "owner", "plain-text", "public-differs", "public-missing", "replaced-keyset",
        "revoked", "rolled-back", "rotation-blocked", "rotation-due", "rotation-overdue", "secret", "served-absent",
        "served-changed", "served-conflict", "served-copy", "served-epoch", "served-expired", "served-foreign",
        "served-future",
        "served-lacks",
        "served-missing", "served-mode", "served-newer", "served-older", "served-orphan", "served-refused",
        "served-revoked",
        "served-signature", "served-unpublished", "set-expired", "set-expiring",
        "symbolic-link", "unconfirmed-restore", "unfinished", "unknown-member", "unreadable", "unsupported-suite",
        "weak-scrypt",
    ]
}

extension Finding: Comparable {
    /// By severity, errors first; then what stops apps before leftovers; then by keyset.
    package static func < (left: Finding, right: Finding) -> Bool {
        func order(_ finding: Finding) -> (Int, Int, String, String, String) {
            let rank = Severity.allCases.firstIndex(of: finding.severity) ?? 0
            return (rank, finding.urgency, finding.keyset, finding.code, finding.message)
        }
        return order(left) < order(right)
    }

    private var urgency: Int {
        // Other commands refuse the keyset until then.
        guard code != "unconfirmed-restore" else { return 0 }
        return Self.outages.contains(code) ? 1 : Self.leftovers.contains(code) ? 3 : 2
    }

    /// Apps get no pushes, or trust a key that they shouldn't.
    private static let outages: Set = [
        "clock", "damaged", "hook-unfinished", "later-version", "malformed", "missing", "no-sealing-key", "rolled-back",
        "served-changed", "served-conflict", "served-expired", "served-foreign", "served-future",
        "served-lacks", "served-newer",
        "served-revoked", "served-signature", "served-unpublished", "set-expired", "unreadable",
    ]
    private static let leftovers: Set = [
        "expired", "foreign-file", "old-log", "replaced-keyset", "revoked", "unfinished",
    ]
}

/// Advice in both `keys verify` and `keys doctor`.
extension Verification {
    /// - Parameter secretArguments: as in `SecretSource.arguments`, also below.
    static func restore(_ path: String, _ secretArguments: String) -> String {
        KeysetFolder(path).restoreCommand(secretArguments) + "  # FILE is the newest backup"
    }

    static let digestMismatch = "\(KeysetFolder.keysetName) \(KeysetFile.digestMismatch)"
    static let updateLibrary = "update OpenSSL on this host, or work on the host that has it"
    static let keepLaterFile = "keep the file, and use the pushcrypt that wrote it, or a later one"
    package static let giveTheSecret = "give --passphrase-file, --passphrase-fd or --wrap-command"

    static func missingLines(_ count: Int) -> String {
        "an interrupted change didn't write \(count) line\(count == 1 ? "" : "s") to the audit log"
    }

    /// What the log says of a key, and what the keyset does with it.
    static func givenUp(_ kid: KeyID, _ entry: AuditEntry, _ metadata: KeysetMetadata, at time: UnixTime) -> String {
        let verb = entry.what == "revoked" ? "revokes" : "destroys"
        let state = metadata.timeline.state(of: kid, at: time)
        let work = metadata.kind == .sender ? "signs" : "seals"
        let use =
            state == .primary
            ? "the keyset \(work) with it" : "in the keyset it is \(state.map { "\($0)" } ?? "unknown")"
        return "the audit log \(verb) key \(kid) at \(entry.at), and \(use)"
    }

    static func restoreOlder(_ snapshot: KeysetSnapshot, _ secretArguments: String) -> String {
        LaterChanges.restoreCommand(snapshot.path, secretArguments) + "  # or with --from FILE, the newest backup"
    }

    static func verify(_ snapshot: KeysetSnapshot, _ secretArguments: String) -> String {
        "pushcrypt keys verify \(ShellArgument.quoted(snapshot.path))\(secretArguments)"
    }

    /// For a keyset that is older than a file beside it, although its log is whole.
    static func restoreNewest(_ path: String, _ secretArguments: String) -> String {
        "\(restore(path, secretArguments)); without one, `pushcrypt keys restore \(ShellArgument.quoted(path))"
            + "\(secretArguments)` continues from this copy: then revoke again what was revoked since"
    }

    static func restartLog(_ snapshot: KeysetSnapshot, _ secretArguments: String) -> String {
        AuditLog.restartCommand(snapshot.path, secretArguments)
            + "  # when you know why it is broken: WHY stands for it"
    }
}

extension PublicCondition {
    /// The fault and how to correct it; the case's name if there is no fault.
    ///
    /// - Parameters:
    ///   - secretArguments: as in `SecretSource.arguments`.
    ///   - restore: the advice for a keyset that is an earlier copy; nil for another one.
    func description(
        _ snapshot: KeysetSnapshot, _ secretArguments: String, restore: String? = nil
    ) -> (message: String, advice: String) {
        let name = KeysetFolder.publicName
        let verify = Verification.verify(snapshot, secretArguments)
        switch self {
        case .missing: return ("\(name) is missing", verify)
        case .stale(let sequence):
            return ("\(name) is from an earlier change, seq \(sequence)", verify)
        case .newer(let sequence):
            return (
                "\(name) is from a later change, seq \(sequence): the keyset is an old copy",
                restore ?? Verification.restoreNewest(snapshot.path, secretArguments)
            )
        case .foreign(let flaw):
            let file = ShellArgument.quoted(snapshot.path + "/" + name)
            return (
                "\(name) doesn't match the keyset: \(flaw)",
                "rm \(file) && \(verify)  # when you know who changed it"
            )
        case .unneeded, .whole, .plausible: return ("\(self)", "")
        }
    }
}
