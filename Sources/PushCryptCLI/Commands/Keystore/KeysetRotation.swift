import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// `rotate`: one command for cron. It converges: what is missing or old at its target is written again.
struct KeysetRotation {
    let keysets: HostKeysets
    let isDryRun: Bool
    let beginsNow: Bool
    let suite: KeyPairType?
    let asJSON: Bool

    /// - Parameter arguments: the keysets; empty for those of the settings.
    func run(_ arguments: [String]) throws {
        let all = keysets.chosen(arguments)
        var statuses = [Int32]()
        for (path, error) in all.problems {
            let failure = Failure(error, of: path)
            StandardStreams.writeError(failure.message)
            statuses.append(failure.status.rawValue)
        }
        let outcomes = all.found.map(rotate)
        for outcome in outcomes { try outcome.print(asJSON: asJSON) }
        guard !isDryRun else { return try HostKeysets.exit(statuses + outcomes.map(\.status)) }
        let failure = keysets.runAfter()
        if let failure { StandardStreams.writeError(failure.message) }
        for outcome in outcomes {
            let own = [outcome.status, failure?.status.rawValue ?? 0].max(by: KeysetOutcome.isLessSevere) ?? 0
            statuses.append(own)
            do { try record(outcome, own) } catch {
                let failure = Failure(error, of: outcome.location.path)
                StandardStreams.writeError(failure.message)
                statuses.append(failure.status.rawValue)
            }
        }
        try HostKeysets.exit(statuses + [failure?.status.rawValue ?? 0])
    }

    private func record(_ outcome: KeysetOutcome, _ status: Int32) throws {
        guard let id = outcome.id else { return }
        let host = try keysets.host(of: outcome.location)
        guard host.storage.histories != nil else { return }
        try host.recordRun(of: id, status: Int(status))
    }

    private func rotate(_ location: KeysetLocation) -> KeysetOutcome {
        var outcome = KeysetOutcome(location)
        do {
            let host = try keysets.host(of: location)
            guard let before = try host.storage.keyset(location.path)?.log else {
                throw KeystoreRefusal.missing(path: location.path)
            }
            guard !before.state.isDemo else { return outcome }
            outcome.id = before.state.id
            guard !isDryRun else {
                try plan(&outcome, host)
                return outcome
            }
            let log = try host.rotate(location.path, beginsNow: beginsNow, suite: suite)
            outcome.changes = log.deeds(after: before.state.head.number)
            if beginsNow, outcome.changes.isEmpty {
                StandardStreams.writeNote("\(location): --now has no effect: a next key is there already")
            }
            keysets.publish(&outcome)
            keysets.publishDevices(&outcome)
            for step in host.plan(log.state).blocked {
                outcome.failures.append(
                    Failure(.temporary, "\(location): \(step.action.text) waits: \(step.blockedBy ?? step.why)"))
            }
        } catch { outcome.fail(error) }
        return outcome
    }

    private func plan(_ outcome: inout KeysetOutcome, _ host: KeystoreHost<FileStorage>) throws {
        let path = outcome.location.path
        let keyset = try host.lock(path)
        _ = try host.time(for: keyset)
        outcome.due = host.plan(keyset.state, beginsNow: beginsNow).due.map { "would \($0.action.text)" }
        let publishers = try keysets.publishers(nil).compactMap { try host.storage.keyset($0.path)?.log }
        let changesSet = !outcome.due.isEmpty && [.sender, .recipient].contains(keyset.state.kind)
        if keysets.servedFolder != nil, try changesSet || !host.isPublished(path, by: publishers) {
            outcome.due.append("would publish")
        }
    }
}
