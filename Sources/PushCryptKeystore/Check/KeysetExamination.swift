package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// Finds the faults of one keyset. It needs no secret; with one it checks that too.
package struct KeysetExamination {
    /// What an examination knows beside the files.
    package struct Context {
        package let time: UnixTime
        package var user = FileSystem.ownUser
        /// This host; nil if it has no name.
        package var writer: String?
        /// The reports of devices, for policies that require coverage.
        package var reports: DeviceReports?
        /// The options that name the secret of encrypted keysets, for commands that findings advise: each begins with a space.
        package var secretArguments = ""
        /// The secret of the keyset at a path; nil if it isn't checked.
        package var secret: (String) -> SecretSource? = { _ in nil }

        package init(at time: UnixTime) { self.time = time }
    }

    /// The secret of encrypted keys.
    package enum SecretCondition: String, Hashable, Sendable, Encodable {
        /// The keys are in plain text, or can't be read.
        case none
        case unchecked, right, wrong
        /// It is missing, can't be read, or is for a keyset of another protection, or its command failed.
        case unusable
    }

    /// Why changes of the keyset are refused.
    package struct Refusal {
        /// As in the error of the command.
        package let reason: String
        /// The host that changes the keyset; nil if the keyset, its secret or the clock has a fault, which is a finding.
        package let host: String?
    }

    package let snapshot: KeysetSnapshot
    let context: Context
    package internal(set) var findings: [Finding] = []
    package private(set) var secret = SecretCondition.none
    /// nil if this host can change the keyset, and for published demo keys.
    private var refusal: Refusal?
    /// Whether the audit log matches the keyset; nil if one of them can't be read.
    package let logCondition: AuditLog.Condition?
    /// The unlocked keys of plain text, or of a secret that is right.
    private var stored: StoredKeyset?

    /// - Parameter snapshot: read with `requiringPrivacy: false`.
    package init(_ snapshot: KeysetSnapshot, _ context: Context) {
        self.snapshot = snapshot
        self.context = context
        logCondition = snapshot.logCondition
        examineFiles()
        switch snapshot.keyset {
        case .success(let file): examine(file)
        case .failure(let error):
            refusal = Refusal(reason: "\(error)", host: nil)
            examine(error)
        }
    }

    var now: UnixTime { context.time }
    var user: UInt32 { context.user }

    /// The keyset's metadata; nil if its file can't be read.
    package var metadata: KeysetMetadata? { try? snapshot.keyset.get().metadata }

    /// The plan, in which what `rotate` would refuse is blocked.
    package func plan(_ metadata: KeysetMetadata) -> RotationPlan {
        var plan = metadata.plan(at: now) { context.reports?.verdict(on: $0, metadata, at: now) }
        if let refusal { plan.block(refusal.reason) }
        return plan
    }

    /// Why `rotate` refuses the keyset; nil if it doesn't. It refuses another host only if a step is due.
    ///
    /// - Parameter plan: nil if the keyset's file can't be read.
    package func rotationRefusal(_ plan: RotationPlan?) -> Refusal? {
        guard let refusal, refusal.host == nil || plan?.blocked.contains(where: isRefused) == true else {
            return plan?.clockObjection.map { Refusal(reason: $0, host: nil) }
        }
        return refusal
    }

    private func isRefused(_ step: RotationPlan.Step) -> Bool { refusal != nil && step.blockedBy == refusal?.reason }

    /// - Parameter dueAt: when the step of `rotate` was due that the finding is about.
    mutating func add(
        _ severity: Finding.Severity, _ code: String, _ message: String, advice: String, dueAt: UnixTime? = nil
    ) {
        findings.append(
            Finding(
                severity: severity, keyset: snapshot.path, code: code, message: message, advice: advice, dueAt: dueAt))
    }

    func command(_ text: String) -> String { "pushcrypt \(text) \(ShellArgument.quoted(snapshot.path))" }

    /// As in ``Context/secretArguments``, if the keyset needs them.
    var secretArguments: String {
        (try? snapshot.keyset.get().protection) == .plaintext ? "" : context.secretArguments
    }

    private var restore: String { Verification.restore(snapshot.path, secretArguments) }
    var verify: String { Verification.verify(snapshot, secretArguments) }

    /// The command that changes the keyset, and where or when it is accepted.
    func change(_ text: String, then rest: String = "") -> String {
        let condition: String
        if let refusal {
            condition = refusal.host.map { "on \($0): " } ?? "first correct the keyset's error, then: "
        } else {
            condition = clockObjection == nil ? "" : "first correct the clock, then: "
        }
        return condition + command(text) + secretArguments + rest
    }

    private var clockObjection: String? { metadata.flatMap { $0.timeline.clockObjection(to: now, $0.policy) } }

    private mutating func examine(_ file: KeysetFile) {
        examineContent(file)
        if !snapshot.isDemo {
            examineSecret(file)
            refusal = refusal ?? findRefusal(file.metadata)
            examineProtection(file.protection)
        }
        if !snapshot.isDemo { examineWriter(file.metadata) }
        // No command uses the keys of an earlier copy, so that their states and steps mean nothing until it is restored.
        if !isEarlierCopy {
            examineLifecycles(file.metadata.timeline)
            if !snapshot.isDemo { examineRotation(file.metadata) }
            if let set = file.metadata.signedSet { examineSignedSet(set, file.metadata) }
            examineHook(file.metadata)
        }
        examineLog(file.metadata)
        if !snapshot.isDemo { examinePublic(file.metadata) }
    }

    private var isEarlierCopy: Bool { logCondition?.isEarlierCopy ?? false }

    private mutating func examine(_ error: any Error) {
        if let error = error as? KeyError, error.code == .unsupportedVersion {
            return add(.error, "later-version", error.reason, advice: Verification.keepLaterFile)
        }
        guard let error = error as? KeystoreError else {
            return add(
                .error, "malformed", "\(KeysetFolder.keysetName) is not a keyset: \(error)",
                advice: restore)
        }
        switch error.code {
        case .notFound:
            add(
                .error, "missing", "there is no \(KeysetFolder.keysetName)",
                advice: restore)
        case .damaged:
            add(.error, "damaged", Verification.digestMismatch, advice: restore)
        case .notAKeyset where snapshot.files[KeysetFolder.keysetName]?.kind == .symbolicLink:
            break  // Reported by examineFiles().
        case .notAKeyset: add(.error, "malformed", error.reason, advice: restore)
        default: findings.append(.unreadable(snapshot.path, error))
        }
    }

    private mutating func examineContent(_ file: KeysetFile) {
        let kids = file.keyIDs
        let isDemo = DemoKeys.covers(kids)
        if isDemo {
            add(
                .warning, "demo-keys", "these keys are published with pushcrypt and protect nothing",
                advice: "use them only for the demo")
        } else if kids.contains(where: { DemoKeys.covers([$0]) }) {
            add(
                .error, "demo-keys", "some of the keys are published with pushcrypt: they protect nothing",
                advice: "create another keyset: pushcrypt keys create NAME --kind \(file.metadata.kind.rawValue)")
        }
        if file.root[KeysetFile.digestName] == nil, !isDemo {
            add(
                .note, "no-digest", "\(KeysetFolder.keysetName) has no digest: it was made or edited by hand",
                advice: "the next change adds one")
        }
        for path in UnknownMembers.paths(in: file.root) where !(isDemo && path == "comment") {
            add(
                .warning, "unknown-member", "no command reads \(path) in \(KeysetFolder.keysetName)",
                advice: "save it in another place: the next change writes the file without it")
        }
    }

    private mutating func examineWriter(_ metadata: KeysetMetadata) {
        guard let recorded = metadata.writer else {
            return add(
                .note, "no-writer", "the keyset doesn't record which host changes it, so a second host is not refused",
                advice: context.writer == nil
                    ? "set \(Writer.variable) on the host that changes it: it has no machine id"
                    : "nothing, if this is the only host: the next change records it")
        }
        guard let refusal = Writer.refusal(recorded, own: context.writer) else { return }
        add(
            .note, "other-writer", refusal,
            advice: "nothing, unless this host shall change it from now on: "
                + command("keys policy --writer this") + secretArguments)
    }

    private func findRefusal(_ metadata: KeysetMetadata) -> Refusal? {
        do {
            try KeysetStore(snapshot.path).requireChangeable(context.secret(snapshot.path) ?? .none, .never)
        } catch {
            return Refusal(reason: "\(error)", host: nil)
        }
        return Writer.refusal(metadata.writer, own: context.writer).map { Refusal(reason: $0, host: metadata.writer) }
    }

    private mutating func examineSecret(_ file: KeysetFile) {
        let source = context.secret(snapshot.path)
        if file.protection != .plaintext { secret = source == nil ? .unchecked : .unusable }
        do {
            stored = secret == .unchecked ? nil : try file.unlocked(source ?? .none, evenIfOlder: true)
            if secret == .unusable { secret = .right }
        } catch {
            refusal = Refusal(reason: "\(error)", host: nil)
            report(secretError: error, of: source, file.protection)
        }
    }

    private mutating func report(
        secretError error: any Error, of source: SecretSource?, _ protection: Protection
    ) {
        let known = error as? KeystoreError
        switch known?.code {
        case .notEncrypted?: add(.error, "not-encrypted", "\(error)", advice: restore)
        case .damaged?: add(.error, "damaged", "\(error)", advice: restore)
        default:
            if known?.code == .wrongSecret { secret = .wrong }
            add(
                .error, "secret",
                "the secret of the private keys can't be used: \(known?.cause?.fault ?? "\(error)")",
                advice: Self.advice(onSecret: known, of: source, protection))
        }
    }

    private static func advice(
        onSecret error: KeystoreError?, of source: SecretSource?, _ protection: Protection
    ) -> String {
        if let file = error?.cause {
            if let correction = file.correction { return correction }
            if file.code == .notFound { return "put the passphrase into \(file.path), or name another file" }
        }
        // The command line has an error of its own for a secret that isn't given.
        guard let error, let source else { return Verification.giveTheSecret }
        guard error.code == .secretNeeded else {
            return "give the right one: without it no key can be added, and nothing is sealed or signed"
        }
        guard (try? source.secret()) != nil else { return "correct the passphrase, or name another source of it" }
        return switch protection {
        case .passphrase: "give its passphrase with --passphrase-file or --passphrase-fd"
        case .command: "give its command with --wrap-command"
        default: Verification.giveTheSecret
        }
    }

    private mutating func examineProtection(_ protection: Protection) {
        if protection == .plaintext {
            add(
                .warning, "plain-text",
                "the private keys are not encrypted: a user who can read the file or a copy has them",
                advice: change("keys passwd"))
        }
        for (name, protection) in protection.secrets {
            guard case .passphrase(let parameters) = protection, Self.cost(parameters) < Self.cost(.standard) else {
                continue
            }
            add(
                .warning, "weak-scrypt",
                "the passphrase\(name.map { " \($0)" } ?? "") is cheap to guess: scrypt with N \(parameters.n), "
                    + "r \(parameters.r), p \(parameters.p)",
                advice: name.map {
                    change("keys secrets add", then: " --name NAME  # then remove \($0) with keys secrets remove")
                } ?? change("keys passwd"))
        }
    }

    private static func cost(_ parameters: ScryptParameters) -> Int { parameters.n * parameters.r * parameters.p }

    private mutating func examineLog(_ metadata: KeysetMetadata) {
        if case .failure(let error) = snapshot.log, snapshot.files[KeysetFolder.auditName]?.kind == .file {
            findings.append(.unreadable(snapshot.path, error))
        }
        switch logCondition {
        case .whole?, nil: break
        case .interrupted(let missing)?:
            add(.warning, "unfinished", Verification.missingLines(missing.count), advice: verify)
        case .newer(let later)?:
            let advice = Verification.restoreOlder(snapshot, secretArguments)
            add(.error, "rolled-back", "\(later)", advice: advice)
            for (kid, entry) in later.givenUp(in: metadata) {
                add(.error, "rolled-back", Verification.givenUp(kid, entry, metadata, at: now), advice: advice)
            }
        case .broken(let flaw)?:
            add(.error, "audit-broken", flaw, advice: Verification.restartLog(snapshot, secretArguments))
        }
    }

    private mutating func examineHook(_ metadata: KeysetMetadata) {
        guard let record = snapshot.hook, record.sequence != metadata.sequence else { return }
        let success = record.sequence.map { "succeeded for seq \($0)" } ?? "has never succeeded"
        let changedAt = metadata.timeline.updatedAt
        let isLate = changedAt.map { $0 + Self.graceInSeconds < now } ?? true
        add(
            isLate ? .warning : .note, "hook-unfinished",
            "the program that runs after changes \(success), and the keyset has seq \(metadata.sequence)",
            advice: change(
                "rotate", then: " --exec-on-change PROGRAM  # as in your cron job; its last output names the fault"))
    }

    private mutating func examinePublic(_ metadata: KeysetMetadata) {
        guard case .success(let published) = snapshot.published else { return }
        let condition = PublicCondition(published, metadata, stored?.records)
        let (message, advice) = condition.description(snapshot, secretArguments)
        switch condition {
        case .unneeded, .whole, .plausible: break
        // The log's finding says more.
        case .newer where isEarlierCopy: break
        case .missing: add(.warning, "public-missing", message, advice: advice)
        case .stale: add(.warning, "unfinished", message, advice: advice)
        case .newer: add(.error, "rolled-back", message, advice: advice)
        case .foreign: add(.error, "public-differs", message, advice: advice)
        }
    }
}

extension KeysetExamination {
    mutating func examineLifecycles(_ timeline: KeyTimeline) {
        if timeline.primary(at: now) == nil {
            add(.error, "no-sealing-key", "no key seals at \(timeline.effective(now))", advice: change("rotate"))
        } else {
            do throws(LifecycleError) {
                try Invariants.check(standing: timeline, at: now)
            } catch {
                add(.error, "lives", error.reason, advice: command("keys list"))
            }
        }
        for key in timeline.keys(in: .expired, at: now) {
            let expiresAt = key.lifecycle.expiresAt.map { "since \($0)" } ?? ""
            let isLate = key.lifecycle.expiresAt.map { $0 + Self.graceInSeconds < now } ?? true
            add(
                isLate ? .warning : .note, "expired",
                "key \(key.kid) opens nothing \(expiresAt), and its material is still there",
                advice: change("keys prune"), dueAt: key.lifecycle.expiresAt)
        }
        for key in timeline.keys(in: .primary, .retiring, at: now) {
            guard let expiresAt = key.lifecycle.expiresAt, expiresAt <= now + Self.soonInSeconds else { continue }
            add(
                .note, "expiring", "key \(key.kid) opens until \(expiresAt)",
                advice: "nothing, unless devices still lack its successor: \(command("keys list"))")
        }
    }

    mutating func examineRotation(_ metadata: KeysetMetadata) {
        if let objection = clockObjection {
            add(.warning, "clock", objection, advice: "date -u")
        }
        if metadata.policy.publishLeadInSeconds == 0 {
            add(
                .warning, "no-publish-lead",
                "publishLead is 0: after each rotation, devices show a placeholder until they have fetched the new key",
                advice: change("keys policy --publish-lead 7d"))
        }
        let condition = metadata.signedSet?.condition(at: now) ?? .valid
        let plan = plan(metadata)
        // examineLifecycles reports expired keys, and examineSignedSet an old set.
        func isReported(_ step: RotationPlan.Step) -> Bool {
            if case .destroy = step.action { return true }
            return step.action == .renew && condition != .valid
        }
        for step in plan.due where !isReported(step) {
            let isLate = step.dueAt + Self.graceInSeconds < now
            add(
                isLate ? .warning : .note, isLate ? "rotation-overdue" : "rotation-due",
                "it has been due since \(step.dueAt) \(step.description)", advice: change("rotate"),
                dueAt: step.dueAt)
        }
        for step in plan.blocked where !isReported(step) {
            let isRefused = isRefused(step)
            // The host that changes the keyset has a day for it.
            let isWaiting = isRefused && step.dueAt + Self.graceInSeconds >= now
            let objection =
                isRefused && refusal?.host == nil
                ? "but rotate refuses the keyset until its error is corrected"
                : "which is blocked: \(step.blockedBy ?? "")"
            add(
                isWaiting ? .note : .warning, "rotation-blocked",
                "it has been due since \(step.dueAt) \(step.description), \(objection)",
                advice: isRefused ? change("rotate") : command("rotate --dry-run") + secretArguments, dueAt: step.dueAt)
        }
    }

    mutating func examineSignedSet(_ set: SenderSetPublication, _ metadata: KeysetMetadata) {
        let issued = "the signed set was issued at \(set.issuedAt) and"
        let advice = change(
            "rotate", then: "  # then publish the set: \(PublishedSet.command(snapshot.path, secretArguments))")
        let plan = plan(metadata)
        let dueAt = (plan.due + plan.blocked).map(\.dueAt).min()
        switch set.condition(at: now) {
        case .valid: break
        case .expiring:
            add(
                .warning, "set-expiring", "\(issued) is valid until \(set.validUntil)", advice: advice, dueAt: dueAt)
        case .expired:
            add(
                .error, "set-expired", "\(issued) was valid until \(set.validUntil): apps verify nothing with it",
                advice: advice)
        }
    }

    /// A week: keys that expire within it are reported.
    private static let soonInSeconds: Int64 = 7 * 86_400
    /// A day, so that a host that rotates daily is never late.
    fileprivate static let graceInSeconds: Int64 = 86_400
}

extension RotationPlan.Step {
    fileprivate var description: String {
        if action == .renew { return "to issue the signed set again" }
        return action.kid.map { "to \(action.name) key \($0)" } ?? "to \(action.name) the next key"
    }
}

/// Members of a keyset's file that no command reads. The next change writes the file without them.
package enum UnknownMembers {
    /// The paths of these members, such as `pushcrypt.keys.KID.colour`.
    package static func paths(in root: JSONValue) -> [String] {
        let isEncrypted = root["sealed"] != nil
        var paths = unknown(in: root, "", [isEncrypted ? "sealed" : "keys", "pushcrypt", "digest"])
        if let sealed = root["sealed"] {
            if let locks = sealed["locks"] {
                paths += unknown(in: sealed, "sealed.", ["v", "locks", "dataKey", "keys"])
                for (index, lock) in locks.elements.enumerated() {
                    paths += unknown(inLock: lock, "sealed.locks[\(index)].", ["name", "key"])
                }
            } else {
                paths += unknown(inLock: sealed, "sealed.", ["v", "dataKey", "keys"])
            }
        } else if let keys = root["keys"] {
            for (index, key) in keys.elements.enumerated() { paths += unknown(in: key, "keys[\(index)].", keyMembers) }
        }
        guard let metadata = root["pushcrypt"] else { return paths }
        paths += unknown(in: metadata, "pushcrypt.", metadataMembers)
        paths += unknown(in: metadata["policy"], "pushcrypt.policy.", policyMembers)
        paths += unknown(in: metadata["publication"], "pushcrypt.publication.", publicationMembers)
        paths += unknown(in: metadata["audit"], "pushcrypt.audit.", ["count", "head", "last"])
        guard let keys = metadata["keys"] else { return paths }
        return paths + keys.members.flatMap { unknown(in: $0.value, "pushcrypt.keys.\($0.name).", lifecycleMembers) }
    }

    private static let keyMembers: Set = [
        "kty", "crv", "x", "y", "d", "k", "alg", "kid", "psk", "device", "role", "pub", "priv",
    ]
    private static let metadataMembers: Set = [
        "seq", "updatedAt", "kind", "writer", "policy", "publication", "audit", "keys",
    ]
    private static let publicationMembers: Set = ["set", "topics", "epoch", "validFor"]
    private static let policyMembers: Set = ["rotateEvery", "publishLead", "overlap", "keep", "requireCoverage"]
    private static let lifecycleMembers: Set = [
        "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt", "destroyedAt", "suite", "psk",
    ]

    private static func unknown(inLock object: JSONValue, _ prefix: String, _ others: Set<String>) -> [String] {
        let lock = object["passphrase"] == nil ? "command" : "passphrase"
        return unknown(in: object, prefix, others.union([lock]))
            + unknown(in: object["passphrase"], "\(prefix)passphrase.", ["n", "r", "p", "salt", "check"])
    }

    private static func unknown(in object: JSONValue?, _ prefix: String, _ known: Set<String>) -> [String] {
        (object?.members.map(\.name) ?? []).filter { !known.contains($0) }.map { prefix + $0 }
    }
}
