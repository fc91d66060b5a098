package import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Finds everything that is wrong with one keyset and shows without its secret.
package struct KeysetExamination {
    let snapshot: KeysetSnapshot
    let now: UnixTime
    let user: UInt32
    package internal(set) var findings: [Finding] = []

    /// - Parameters:
    ///   - snapshot: read with any file modes.
    ///   - time: the clock.
    ///   - user: the user id that everything should belong to.
    package init(_ snapshot: KeysetSnapshot, at time: UnixTime, user: UInt32) {
        self.snapshot = snapshot
        now = time
        self.user = user
        examineFiles()
        switch snapshot.keyset {
        case .success(let file): examine(file)
        case .failure(let error): examine(error)
        }
    }

    mutating func add(_ severity: Finding.Severity, _ code: String, _ message: String, advice: String) {
        findings.append(Finding(severity, snapshot.path, code, message, advice: advice))
    }

    func command(_ words: String) -> String { "pushcrypt \(words) \(ShellArgument.quoted(snapshot.path))" }

    private mutating func examine(_ file: KeysetFile) {
        let metadata = file.metadata
        examineContent(file)
        examineProtection(file.protection)
        examineLifecycles(metadata)
        examineExpiry(metadata.timeline)
        examineRotation(metadata)
        examineLog(metadata.audit)
        examinePublic(metadata)
    }

    private mutating func examine(_ error: any Error) {
        guard let error = error as? KeystoreError else {
            return add(
                .error, "malformed", "\(KeysetFolder.keysetName) is not a keyset: \(error)",
                advice: Verification.restore)
        }
        switch error.code {
        case .notFound:
            add(.error, "missing", "there is no \(KeysetFolder.keysetName)", advice: Verification.restore)
        case .damaged: add(.error, "damaged", error.reason, advice: Verification.restore)
        case .notAKeyset where snapshot.files[KeysetFolder.keysetName]?.kind == .symbolicLink:
            break  // Said of the file itself.
        case .notAKeyset: add(.error, "malformed", error.reason, advice: Verification.restore)
        default: add(.error, "unreadable", error.reason, advice: "run this as the keyset's owner")
        }
    }

    private mutating func examineContent(_ file: KeysetFile) {
        let kids = file.keyIDs
        let isDemo = DemoKeys.covers(kids)
        if isDemo {
            add(
                .warning, "demo-keys", "these keys are published with pushcrypt and protect nothing",
                advice: "use them for the demo only")
        } else if kids.contains(where: { DemoKeys.covers([$0]) }) {
            add(
                .error, "demo-keys", "some of the keys are published with pushcrypt: they protect nothing",
                advice: "make a keyset of your own: pushcrypt keys create NAME --kind \(file.metadata.kind.rawValue)")
        }
        if file.root[KeysetFile.digestName] == nil, !isDemo {
            add(
                .note, "no-digest", "\(KeysetFolder.keysetName) has no digest: it was made or edited by hand",
                advice: "the next change adds one")
        }
        for path in UnknownMembers.paths(in: file.root) where !(isDemo && path == "comment") {
            add(
                .warning, "unknown-member", "\(path) in \(KeysetFolder.keysetName) is read by nobody",
                advice: "keep it elsewhere: the next change writes the file without it")
        }
    }

    private mutating func examineProtection(_ protection: Protection) {
        guard !snapshot.isDemo else { return }
        switch protection {
        case .plaintext:
            add(
                .warning, "plain-text", "the private keys are not encrypted: who reads the file or a copy has them",
                advice: command("keys passwd"))
        case .passphrase(let parameters) where parameters.cost < ScryptParameters.standard.cost:
            add(
                .warning, "weak-scrypt",
                "the passphrase is cheap to guess: scrypt with N \(parameters.n), r \(parameters.r), p \(parameters.p)",
                advice: command("keys passwd"))
        default: break
        }
    }

    private mutating func examineLog(_ head: AuditHead) {
        let condition: AuditLog.Condition
        switch snapshot.log {
        case .success(let log): condition = log.condition(head)
        case .failure(let error) where snapshot.files[KeysetFolder.auditName]?.kind == .file:
            return add(.error, "unreadable", "\(error)", advice: "run this as the keyset's owner")
        case .failure: return
        }
        switch condition {
        case .whole: break
        case .interrupted(let missing):
            let lines = "\(missing.count) line\(missing.count == 1 ? "" : "s")"
            add(
                .warning, "unfinished", "an interrupted change kept \(lines) from the audit log",
                advice: Verification.verify(snapshot))
        case .broken(let flaw): add(.error, "audit-broken", flaw, advice: Verification.restartLog(snapshot))
        }
    }

    private mutating func examinePublic(_ metadata: KeysetMetadata) {
        guard !snapshot.isDemo, case .success(let published) = snapshot.published else { return }
        let records = (try? snapshot.keyset.get()).flatMap { try? $0.unlocked(.none).records }
        let condition = PublicCondition(published, metadata, records)
        let (message, advice) = condition.description(snapshot)
        switch condition {
        case .unneeded, .whole, .plausible: break
        case .missing: add(.warning, "public-missing", message, advice: advice)
        case .stale: add(.warning, "unfinished", message, advice: advice)
        case .newer: add(.error, "rolled-back", message, advice: advice)
        case .foreign: add(.error, "public-differs", message, advice: advice)
        }
    }
}

extension ScryptParameters {
    /// What one guess costs, up to a factor.
    fileprivate var cost: Int { n * r * p }
}

/// The keys' timestamps, the policy and the clock.
extension KeysetExamination {
    mutating func examineLifecycles(_ metadata: KeysetMetadata) {
        guard metadata.timeline.primary(at: now) != nil else {
            return add(
                .error, "no-sealing-key", "no key seals at \(metadata.timeline.effective(now))",
                advice: command("rotate"))
        }
        do throws(LifecycleError) {
            try Invariants.check(standing: metadata.timeline, at: now)
        } catch {
            add(.error, "lives", error.reason, advice: command("keys list"))
        }
    }

    mutating func examineExpiry(_ timeline: KeyTimeline) {
        for key in timeline.keys(in: .expired, at: now) {
            let expiresAt = key.lifecycle.expiresAt.map { "since \($0)" } ?? ""
            add(
                .warning, "expired", "key \(key.kid) opens nothing \(expiresAt), and its material is still there",
                advice: command("keys prune"))
        }
        for key in timeline.keys(in: .primary, .retiring, at: now) {
            guard let expiresAt = key.lifecycle.expiresAt, expiresAt <= now + Self.soonInSeconds else { continue }
            add(
                .note, "expiring", "key \(key.kid) opens until \(expiresAt)",
                advice: "nothing, unless devices still lack its successor: \(command("keys list"))")
        }
    }

    mutating func examineRotation(_ metadata: KeysetMetadata) {
        guard !snapshot.isDemo else { return }
        if let objection = ClockGuard(metadata.timeline, metadata.policy).objection(to: now) {
            add(.warning, "clock", objection, advice: "date -u")
        }
        if metadata.policy.publishLeadInSeconds == 0 {
            add(
                .warning, "no-publish-lead",
                "publishLead is 0: devices that haven't fetched a new key show a placeholder right after each rotation",
                advice: command("keys policy --publish-lead 7d"))
        }
        let plan = RotationPlan(metadata.timeline, metadata.policy, at: now, confirmsClock: true)
        for step in plan.due where !step.action.isErasure {
            let isLate = step.dueAt + Self.graceInSeconds < now
            add(
                isLate ? .warning : .note, isLate ? "rotation-overdue" : "rotation-due",
                "\(step.words) is due since \(step.dueAt)", advice: command("rotate"))
        }
        for step in plan.blocked {
            add(
                .warning, "rotation-blocked",
                "\(step.words) is due since \(step.dueAt) and blocked: \(step.blockedBy ?? "")",
                advice: command("rotate --dry-run"))
        }
    }

    /// A key that expires within a week is reported.
    private static let soonInSeconds: Int64 = 7 * 86_400
    /// A host that rotates once a day is never late.
    private static let graceInSeconds: Int64 = 86_400
}

extension RotationPlan.Action {
    fileprivate var isErasure: Bool {
        if case .destroy = self { true } else { false }
    }
}

extension RotationPlan.Step {
    fileprivate var words: String {
        action.kid.map { "to \(action.name) key \($0)" } ?? "to \(action.name) the next key"
    }
}
