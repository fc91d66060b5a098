import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// What a command did with one keyset.
struct KeysetOutcome {
    let location: KeysetLocation
    /// What is printed before each change.
    let name: String
    var id: KeysetID?
    var changes: [String] = []
    /// What a dry run leaves.
    var due: [String] = []
    var failures: [Failure] = []

    init(_ location: KeysetLocation, named name: String? = nil) {
        self.location = location
        self.name = name ?? location.path
    }

    var status: Int32 {
        failures.map(\.status.rawValue).max(by: Self.isLessSevere) ?? (due.isEmpty ? 0 : 10)
    }

    mutating func fail(_ error: any Error) { failures.append(Failure(error, of: location.path)) }

    /// 0, 10, 75, 69, and every other one is more severe.
    static func isLessSevere(_ left: Int32, _ right: Int32) -> Bool { severity(left) < severity(right) }

    private static func severity(_ status: Int32) -> Int { [0, 10, 75, 69].firstIndex(of: status) ?? 4 }

    /// Prints one line per change, and the failures on stderr.
    func print(asJSON: Bool) throws {
        for failure in failures { StandardStreams.writeError(failure.message) }
        if asJSON {
            let json: JSONObject = [
                "keyset": name, "id": id?.description, "changes": changes, "due": due,
                "errors": failures.map(\.message), "status": status,
            ]
            return try StandardStreams.writeJSON(json, [])
        }
        for line in changes + due {
            try StandardStreams.write(TerminalText.harmless("\(name): \(line)".utf8) + "\n")
        }
    }
}

extension HostKeysets {
    /// Publishes a keyset. Its publishers are unlocked only if a set must be signed.
    ///
    /// - Parameter publisher: in place of those of the settings.
    func publish(
        _ outcome: inout KeysetOutcome, by publisher: String? = nil, replacing: Bool = false, isUrgent: Bool = false
    ) {
        guard let servedFolder else { return }
        let path = outcome.location.path
        do {
            let host = try host(of: outcome.location)
            let publishers = try publishers(publisher).compactMap { location in
                try self.host(of: location).storage.keyset(location.path).map { (location, $0.log) }
            }
            guard let log = try host.storage.keyset(path)?.log else { throw KeystoreRefusal.missing(path: path) }
            guard try !host.isPublished(path, by: publishers.map(\.1)) else { return }
            let named = Set(log.state.epochs.values)
            let opened = try publishers.filter { named.contains($1.state.id) }
                .map { location, _ in try load(location) }
            for result in try host.publish(path, publishers: opened, replacing: replacing, isUrgent: isUrgent) {
                let file = "\(servedFolder)/\(result.name)"
                switch result.outcome {
                case .written: outcome.changes.append("published \(file)")
                case .removed: outcome.changes.append("removed \(file)")
                case .unchanged: break
                case .publisherElsewhere where publisher != nil:
                    outcome.fail(KeystoreRefusal.otherPublisher(epoch: result.epoch ?? 0))
                case .publisherElsewhere: noteUnsigned(log.state, result.epoch, outcome.location)
                case .refused(let refusal): outcome.fail(refusal)
                case .failed(let error):
                    outcome.failures.append(Failure(.unavailable, Failure(error, of: path).message))
                }
            }
        } catch let error as FileError where error.path.hasPrefix(servedFolder) {
            outcome.failures.append(Failure(.unavailable, error.reason))
        } catch { outcome.fail(error) }
    }

    private func noteUnsigned(_ state: KeysetState, _ epoch: Int64?, _ location: KeysetLocation) {
        if let last = state.published[epoch], last.number > state.lastChange { return }
        StandardStreams.writeNote(
            "\(location): the publisher of epoch \(epoch ?? 0) isn't here, so apps don't have the last changes: "
                + "`pushcrypt publish --unsigned FILE \(ShellArgument.quoted(location.path))`, then sign FILE on its host"
        )
    }

    /// Writes the keys of devices, if the settings name a list for this keyset.
    func publishDevices(_ outcome: inout KeysetOutcome) {
        let location = outcome.location
        guard has(location), let devices = settings?.devices[location.name] else { return }
        do {
            let files = try host(of: location).publishDevices(location.path, list: devices.list, to: devices.to)
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
                publish(&outcome)
                if !outcome.changes.isEmpty || !outcome.failures.isEmpty { outcomes.append(outcome) }
            }
        }
        var statuses = outcomes.map(\.status)
        for outcome in outcomes { try outcome.print(asJSON: asJSON) }
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
