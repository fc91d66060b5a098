import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

extension HostKeysets {
    /// Publishes a keyset. Its publishers are unlocked only if a set must be signed.
    ///
    /// - Parameter publisher: in place of those of the settings.
    func publish(
        _ outcome: inout KeysetOutcome, by publisher: String? = nil, replacing: Bool = false, isUrgent: Bool = false
    ) {
        guard servedFolder != nil else { return }
        do {
            let host = try host(of: outcome.location)
            var keyset = try host.lock(outcome.location.path)
            publish(&keyset, host, &outcome, by: publisher, replacing: replacing, isUrgent: isUrgent)
        } catch { outcome.fail(error) }
    }

    /// The same for a keyset that is locked.
    func publish(
        _ keyset: inout LockedKeyset<LockedFiles>, _ host: KeystoreHost<FileStorage>, _ outcome: inout KeysetOutcome,
        by publisher: String? = nil, replacing: Bool = false, isUrgent: Bool = false
    ) {
        guard let servedFolder else { return }
        let path = outcome.location.path
        do {
            let signers = try signers(of: keyset.state, at: outcome.location, publisher)
            guard try !host.isPublished(keyset, by: signers.map(\.log)) else { return }
            let opened = try signers.map { try load($0.location) }
            let state = keyset.state
            for result in try host.publish(
                &keyset, publishers: opened, replacing: replacing, isUrgent: isUrgent)
            {
                let file = "\(servedFolder)/\(result.name)"
                switch result.outcome {
                case .written: outcome.changes.append("published \(file)")
                case .removed: outcome.changes.append("removed \(file)")
                case .unchanged: break
                case .publisherElsewhere where publisher != nil:
                    outcome.fail(KeystoreRefusal.otherPublisher(epoch: result.epoch ?? 0))
                case .publisherElsewhere: outcome.unsigned += unsigned(state, result.epoch, outcome.location)
                case .refused(let refusal): outcome.fail(refusal)
                case .failed(let error):
                    let isMissing = !FileSystem.exists(servedFolder)
                    let advice =
                        isMissing ? ". To make the folder: `install -d \(ShellArgument.quoted(servedFolder))`" : ""
                    outcome.failures.append(Failure(.unavailable, Failure(error, of: path).message + advice))
                }
            }
        } catch let error as FileError where error.path.hasPrefix(servedFolder) {
            outcome.failures.append(Failure(.unavailable, error.reason))
        } catch { outcome.fail(error) }
    }

    /// Why apps don't have the last changes: only a person can bring them to the publisher. Nothing if another host was asked to sign.
    private func unsigned(_ state: KeysetState, _ epoch: Int64?, _ location: KeysetLocation) -> [Failure] {
        if let last = state.published[epoch], last.number > state.lastChange { return [] }
        let command = "`pushcrypt publish --unsigned FILE \(ShellArgument.quoted(location.path))`"
        return [
            Failure(
                .config,
                "\(location): apps don't have the last changes: the publisher of epoch \(epoch ?? 0) isn't here. If its file is lost, "
                    + "restore a copy of it; if it is on another host: \(command), then sign FILE there")
        ]
    }

    /// Writes the keys of devices, if the settings name a list for this keyset.
    func publishDevices(_ outcome: inout KeysetOutcome) {
        guard devices(of: outcome.location) != nil else { return }
        do {
            let host = try host(of: outcome.location)
            publishDevices(try host.lock(outcome.location.path), host, &outcome)
        } catch { outcome.fail(error) }
    }

    /// The list and outbox of a shared keyset's devices; nil if the settings name none.
    func devices(of location: KeysetLocation) -> Settings.Devices? {
        has(location) ? settings?.devices[location.name] : nil
    }

    /// The same for a keyset that is locked.
    func publishDevices(
        _ keyset: LockedKeyset<LockedFiles>, _ host: KeystoreHost<FileStorage>, _ outcome: inout KeysetOutcome
    ) {
        guard let devices = devices(of: outcome.location) else { return }
        do {
            let files = try host.publishDevices(keyset, list: devices.list, to: devices.to)
            if files.written > 0 {
                outcome.changes.append("wrote the keys of \(files.written) devices to \(devices.to)")
            }
            if files.removed > 0 {
                outcome.changes.append("removed the keys of \(files.removed) devices from \(devices.to)")
            }
        } catch { outcome.fail(error) }
    }

    /// Runs the program `after` of the settings, also if nothing has changed.
    ///
    /// - Returns: why it failed; nil if it didn't.
    func runAfter() -> Failure? {
        guard let settings, let after = settings.after else { return nil }
        let cause: String
        do {
            switch try settings.runAfter() {
            case nil, .ended(.exit(0)): return nil
            case .ended(.exit(let status)): cause = "failed with exit status \(status)"
            case .ended(.signal(let number)): cause = "was ended by signal \(number)"
            case .ended(.late): cause = "took too long and was ended"
            case .notStarted(let number):
                cause = "can't be started: \(FileError(.read, after, systemError: number).systemMessage)"
            }
        } catch { return Failure(error, of: after) }
        return Failure(
            .unavailable, "\(after), which runs after changes, \(cause). `pushcrypt rotate` runs it again")
    }

    /// Publishes what changed publishers sign, prints all, and runs `after`.
    ///
    /// - Parameter changed: keysets that are published already.
    /// - Throws: `ExitCode` unless all succeeded.
    func finish(_ changed: [KeysetOutcome], asJSON: Bool = false) throws {
        var outcomes = changed
        if changed.contains(where: { publishers(nil).contains($0.location) }) {
            for location in present().found where !changed.contains(where: { $0.location == location }) {
                var outcome = KeysetOutcome(location)
                do {
                    let host = try host(of: location)
                    // Another host publishes what it changes.
                    let writer = try host.storage.keyset(location.path)?.log.state.writer
                    if writer == nil || writer == host.name { publish(&outcome) }
                } catch { outcome.fail(error) }
                if !outcome.changes.isEmpty || !outcome.failures.isEmpty { outcomes.append(outcome) }
            }
        }
        var statuses = outcomes.map(\.status)
        let hasKey = changed.contains { $0.kid != nil }
        for outcome in outcomes { try outcome.print(asJSON: asJSON, asNotes: hasKey) }
        if let failure = runAfter() {
            StandardStreams.writeError(failure.message)
            statuses.append(failure.status.rawValue)
        }
        try Self.exit(statuses)
    }

    static func exit(_ statuses: [Int32]) throws {
        if let status = statuses.max(by: KeysetOutcome.isLessSevere), status != 0 { throw ExitCode(status) }
    }
}
