import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// Compares the files that changes write beside `keyset.json` with it.
extension KeysetExamination {
    mutating func examineLog(_ metadata: KeysetMetadata) {
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
            guard let owner = ownerOfLog else {
                return add(.error, "audit-broken", flaw, advice: Verification.restartLog(snapshot, secretArguments))
            }
            // The public keys tell which of the two files is in its place; shared keys have none.
            let name =
                publicKeys?.hasKey(of: metadata.timeline) == true ? KeysetFolder.auditName : KeysetFolder.keysetName
            add(
                .error, "audit-broken", "\(name) is that of \(owner): the two files were exchanged",
                advice: exchange(with: owner, "/" + name))
        }
        if !isEarlierCopy { examineRestoration(metadata) }
    }

    /// The keyset whose file belongs to the log in this folder.
    private var ownerOfLog: String? {
        guard case .broken = logCondition, let log = try? snapshot.log.get() else { return nil }
        return context.others.first { log.belongs(to: $0.metadata.audit) }?.path
    }

    /// The content of `public.jwks.json`.
    private var publicKeys: PublicKeyList? {
        (try? snapshot.published.get()).flatMap { $0 }.flatMap(PublicKeyList.init(json:))
    }

    /// The keyset whose public keys lie in this folder, if this one's lie in that folder.
    private func ownerOfPublicKeys(_ metadata: KeysetMetadata) -> String? {
        guard let keys = publicKeys, !keys.hasKey(of: metadata.timeline) else { return nil }
        return context.others.first { other in
            let path = "\(other.path)/\(KeysetFolder.publicName)"
            return keys.hasKey(of: other.metadata.timeline)
                && (try? FileSystem.readFoundFile(path)).flatMap(PublicKeyList.init(json:))?.hasKey(
                    of: metadata.timeline)
                    == true
        }?.path
    }

    private mutating func examineRestoration(_ metadata: KeysetMetadata) {
        guard let entry = (try? snapshot.log.get())?.unconfirmedRestoration(metadata.audit) else { return }
        let verb = metadata.kind == .publisher ? "destroy" : "revoke"
        let since = entry.detail.map { ": \($0)" } ?? ""
        add(
            .error, "unconfirmed-restore",
            "since \(entry.at) it continues without the log of what came before\(since), so keys that were revoked or destroyed "
                + "since are in use again. See which keys it has with `\(command("keys list"))`, and \(verb) these again: "
                + "`\(command("keys \(verb)"))\(secretArguments) KID`",
            advice: AuditLog.confirmCommand(snapshot.path, secretArguments)
                + "  # after you have done this, or if there are none")
    }

    mutating func examineHook(_ metadata: KeysetMetadata) {
        do {
            if let record = try snapshot.hook.get() { examine(record, metadata) }
        } catch let error as KeystoreError where error.code == .damaged {
            add(
                .warning, "hook-damaged",
                "\(error): whether the program that runs after changes has succeeded is unknown",
                advice: change(
                    "rotate", then: " --exec-on-change PROGRAM", note: "as in your cron job: it runs the program again")
            )
        } catch {
            // examineFiles() reports a link or a folder.
            guard snapshot.files[KeysetFolder.hookName]?.kind == .file else { return }
            findings.append(.unreadable(snapshot.path, error))
        }
    }

    private mutating func examine(_ record: ChangeHook.Record, _ metadata: KeysetMetadata) {
        guard record.sequence != metadata.sequence else { return }
        if let later = record.sequence, later > metadata.sequence {
            return add(
                .error, "rolled-back",
                "\(KeysetFolder.hookName) is from a later change, seq \(later): the keyset is an old copy",
                advice: Verification.restoreNewest(snapshot.path, secretArguments))
        }
        let success = record.sequence.map { "succeeded for seq \($0)" } ?? "has not succeeded"
        let state = "the program that runs after changes \(success), and the keyset has seq \(metadata.sequence)"
        let advice = runProgram(record)
        let revoked = (try? snapshot.log.get()).map { record.revocations(in: $0, metadata.audit) } ?? []
        guard revoked.isEmpty else {
            let keys = revoked.map { "\($0.kid ?? "?") (revoked at \($0.at))" }.joined(separator: ", ")
            let trusting = metadata.kind == .sender ? "apps may still trust" : "devices and senders may still use"
            return add(.error, "hook-unfinished", "\(state): \(trusting) key \(keys)", advice: advice)
        }
        let changedAt = metadata.timeline.updatedAt
        let isLate = changedAt.map { $0 + Self.graceInSeconds < now } ?? true
        add(isLate ? .warning : .note, "hook-unfinished", state, advice: advice)
    }

    /// The command that runs the program again, also if it has succeeded since the last change.
    func runProgram(_ record: ChangeHook.Record, note: String? = nil) -> String {
        let hasSucceeded = record.sequence == metadata?.sequence
        let notes = [
            record.options == nil ? "PROGRAM as in your cron job" : nil,
            hasSucceeded ? nil : "its last output names the fault", note,
        ].compactMap(\.self)
        return change(
            "rotate", then: (record.options ?? " --exec-on-change PROGRAM") + (hasSucceeded ? " --run-again" : ""),
            note: notes.isEmpty ? nil : notes.joined(separator: "; "))
    }

    mutating func examinePublic(_ metadata: KeysetMetadata) {
        guard case .success(let published) = snapshot.published else { return }
        if let owner = ownerOfPublicKeys(metadata) {
            // The log's finding says more.
            guard ownerOfLog == nil else { return }
            return add(
                .error, "public-differs",
                "\(KeysetFolder.publicName) is that of \(owner): the two files were exchanged",
                advice: exchange(with: owner, "/" + KeysetFolder.publicName))
        }
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
