import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract:
            "The one command after a mishap: an old copy, a lost file, a new server, two histories, a wrong clock.",
        discussion: """
            The longest log continues, with the keys of all files, and every revocation is kept. What is given up is shown, and a person \
            must agree. This host changes the keyset from then on. With --confirm-clock, times in the keyset that are later than the clock's \
            are corrected. FILEs are copies of keysets and histories of other hosts. Without \
            arguments: each keyset of the settings that needs it. Publishes, and runs the program `after` of the settings.

            Exit status: as publish; 78 a person must choose, on a terminal or with --over.

            Example: pushcrypt restore senders backup/senders.keyset
            """)

    @Argument(help: .init("Keysets of this host, and other files.", "KEYSET|FILE")) var paths: [String] = []
    @Flag(help: "Agree to what is given up.") var over = false
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var options: HostOptions

    func run() throws {
        let keysets = try options.keysets(triesAllSecrets: true)
        guard keysets.settings != nil || !paths.isEmpty else {
            throw Failure(.usage, "there are no settings: name a KEYSET and a FILE")
        }
        let sources = try RestorationSources(paths, keysets)
        var outcomes = [KeysetOutcome]()
        for location in sources.targets {
            var outcome = KeysetOutcome(location)
            do {
                let restoration = try KeysetRestoration(location, keysets, sources, isOver: over)
                try restoration.run(&outcome, clockIsConfirmed: options.clock.isConfirmed)
            } catch { outcome.fail(error) }
            outcomes.append(outcome)
        }
        if outcomes.allSatisfy({ $0.changes.isEmpty && $0.failures.isEmpty }) {
            StandardStreams.writeNote("nothing is to be restored")
        }
        try keysets.finish(outcomes, asJSON: json)
        // All is done that the last run of `rotate` couldn't do.
        for outcome in outcomes {
            let host = try keysets.host(of: outcome.location)
            guard let id = outcome.id, try host.storage.history(of: id)?.lastStatus ?? 0 != 0 else { continue }
            try host.recordRun(of: id, status: 0)
        }
    }
}

/// The arguments of `restore`, by their content.
struct RestorationSources {
    private(set) var targets: [KeysetLocation] = []
    /// Copies.
    private(set) var files: [(path: String, rows: KeysetRows)] = []
    private(set) var histories: [(path: String, history: KeysetHistory)] = []

    /// - Throws: `Failure` for a file without a place.
    init(_ arguments: [String], _ keysets: HostKeysets) throws {
        var names: [String] = []
        for (index, argument) in arguments.enumerated() {
            let location = keysets.location(argument)
            if keysets.has(location) || keysets.settings == nil && index == 0 {
                targets.append(location)
            } else if keysets.isMissing(argument) {
                names.append(argument)
            } else {
                do { try read(argument) } catch let error as KeysetFileError {
                    throw Failure(
                        .dataError, "\(error.path) isn't a whole keyset and no history of a host: name another copy")
                } catch { throw Failure(error, of: argument) }
            }
        }
        let kinds = Set(files.map(\.rows.log.state.kind) + histories.map(\.history.log.state.kind))
        targets += keysets.missing(kinds.count == 1 ? kinds.first : nil).filter { names.contains($0.name) }
        if arguments.isEmpty { targets = Self.needy(keysets) }
        // First: their signatures count for the others.
        defer {
            let publishers = keysets.publishers(nil)
            targets = targets.filter(publishers.contains) + targets.filter { !publishers.contains($0) }
        }
        let named = targets
        for (path, state) in files.map({ ($0.path, $0.rows.log.state) })
            + histories.map({ ($0.path, $0.history.log.state) })
        {
            let target =
                (named.isEmpty ? keysets.present().found : named).first { ids(of: $0).contains(state.id) }
                ?? (named.isEmpty ? keysets.missing(state.kind) : named).first { $0.name == KeysetLocation(path).name }
                ?? (named.count == 1 ? named[0] : nil)
            let lack = named.isEmpty ? "this host doesn't have" : "isn't one of those"
            guard let target else {
                throw Failure(
                    .usage,
                    "\(path) is a copy of keyset \(state.id), which \(lack). To say where it belongs: "
                        + "`pushcrypt restore KEYSET \(ShellArgument.quoted(path))`")
            }
            if !targets.contains(target) { targets.append(target) }
        }
    }

    /// Those of its file and of copies with its name.
    private func ids(of target: KeysetLocation) -> [KeysetID] {
        let copies = files.filter { KeysetLocation($0.path).name == target.name }.map(\.rows)
        return ([try? KeysetRows(at: target, .reading)].compactMap(\.self) + copies).map(\.log.state.id)
    }

    private mutating func read(_ argument: String) throws {
        let path = FileSystem.exists(argument) ? argument : KeysetLocation(argument).path
        let file = try OpenFile(path)
        try file.requireFile(.ownerOrRootsGroup)
        var bytes = try file.readAll(limitInBytes: KeysetLog.maximumByteCount + 1_024)
        defer { wipe(&bytes) }
        if let history = try? KeysetHistory(bytes) {
            histories.append((path, history))
        } else {
            files.append((path, try KeysetFileError.naming(path) { try KeysetRows(bytes) }))
        }
    }

    /// The keysets that no other command changes, and the missing ones. Of two files with one id, an expected
    /// one, else one that can be changed.
    private static func needy(_ keysets: HostKeysets) -> [KeysetLocation] {
        typealias Present = (location: KeysetLocation, state: KeysetState?, isFine: Bool)
        let present = keysets.present().found.map { location -> Present in
            let state = (try? KeysetRows(at: location, .reading))?.log.state
            return (location, state, (try? isFine(location, keysets)) ?? false)
        }
        let expected = keysets.settings?.expected ?? []
        var targets: [KeysetLocation] = []
        for keyset in present {
            let same = present.filter { $0.state != nil && $0.state?.id == keyset.state?.id }
            guard !keyset.isFine || same.count > 1 else { continue }
            // The restoration reads all of them.
            let best = same.first { expected.contains($0.location.name) } ?? same.first(where: \.isFine) ?? keyset
            if !targets.contains(best.location) { targets.append(best.location) }
        }
        return targets + keysets.missing()
    }

    private static func isFine(_ location: KeysetLocation, _ keysets: HostKeysets) throws -> Bool {
        let host = try keysets.host(of: location)
        let keyset = try host.lock(location.path)
        _ = try (host.time(for: keyset), keyset.found.opened())
        return try !keysets.lacksNamedLine(keyset.log, at: location) && !keysets.isBehindServed(keyset.log, host)
    }
}

extension HostKeysets {
    /// Whether a served set of the keyset was made of lines that the log lacks.
    fileprivate func isBehindServed(_ log: KeysetLog, _ host: KeystoreHost<FileStorage>) throws -> Bool {
        try !host.servedAhead(of: log).isEmpty
    }

    /// The logs of the other keysets, which may name lines of this one.
    fileprivate func logs(otherThan location: KeysetLocation) -> [KeysetLog] {
        present().found.filter { $0 != location }.compactMap { (try? KeysetRows(at: $0, .reading))?.log }
    }

    /// Whether this is an old copy of a publisher: a set names a line that it lacks.
    fileprivate func lacksNamedLine(_ log: KeysetLog, at location: KeysetLocation) -> Bool {
        let points = logs(otherThan: location).compactMap { $0.state.publisherPoints[log.state.id] }
        return points.contains { !log.extends($0) }
    }
}

/// `restore` of one keyset.
struct KeysetRestoration {
    private let location: KeysetLocation
    private let keysets: HostKeysets
    private let host: KeystoreHost<FileStorage>
    /// The keyset's file, if it can be opened, and copies of it that are authentic. At least one.
    private let files: [OpenedKeyset]
    private let histories: [KeysetHistory]
    private let isOver: Bool
    /// Whether only the operator can know that the files are those of the keyset.
    private let isUnauthenticated: Bool

    init(_ location: KeysetLocation, _ keysets: HostKeysets, _ sources: RestorationSources, isOver: Bool) throws {
        let host = try keysets.host(of: location, secretOf: location)
        let id = (try? KeysetRows(at: location, .reading))?.log.state.id
        let copies = sources.files.filter { copy in
            let isOwn = id == copy.rows.log.state.id || KeysetLocation(copy.path).name == location.name
            return sources.targets.count == 1 || isOwn
        }
        let wanted = id ?? copies.first?.rows.log.state.id
        let keystore = FileSystem.resolvedPath(location.keystore)
        let isHere = { (other: KeysetLocation) in FileSystem.resolvedPath(other.keystore) == keystore }
        let same = keysets.present().found.filter { other in
            guard wanted != nil, other.name != location.name || !isHere(other) else { return false }
            return (try? KeysetRows(at: other, .reading))?.log.state.id == wanted
        }
        if let other = same.first(where: { !isHere($0) }) {
            throw Failure(.config, "\(location) and \(other) are one keyset in two keystores: remove one of them")
        }
        var (files, damage) = ([OpenedKeyset](), nil as (any Error)?)
        var notes: [String] = []
        func open(_ path: String, _ read: () throws -> OpenedKeyset?) throws {
            do {
                if let keyset = try KeysetFileError.naming(path, read) { files.append(keyset) }
            } catch let error as KeysetFileError {
                damage = error
                if !copies.isEmpty { notes.append("\(Failure(error, of: path).message). It is left out") }
            }
        }
        for path in [location.path] + same.map(\.path) { try open(path) { try host.storage.keyset(path)?.opened() } }
        for copy in copies {
            try open(copy.path) {
                OpenedKeyset(copy.rows.log, try copy.rows.unlocked(keysets.secret(of: location, copy.rows)))
            }
        }
        guard let first = files.first else {
            for note in notes.dropLast() { StandardStreams.writeNote(note) }
            throw damage ?? KeystoreRefusal.missing(path: location.path) as any Error
        }
        // The id of a file is readable without its secret.
        let named = copies.map(\.rows.log.state.id) + sources.histories.map(\.history.log.state.id)
        let other = sources.targets.count == 1 ? named : []
        if let other = (files.map(\.state.id) + other).first(where: { $0 != first.state.id }) {
            throw Failure(
                .usage, "\(location) and a file are two keysets, \(first.state.id) and \(other): name another file")
        }
        for note in notes { StandardStreams.writeNote(note) }
        histories = sources.histories.map(\.history).filter { $0.log.state.id == first.state.id }
        isUnauthenticated = first.material.secrets == nil && (!copies.isEmpty || !histories.isEmpty)
        (self.location, self.keysets, self.host, self.files, self.isOver) = (location, keysets, host, files, isOver)
    }

    func run(_ outcome: inout KeysetOutcome, clockIsConfirmed: Bool) throws {
        let id = files[0].state.id
        outcome.id = id
        let isDamaged = try host.hasDamagedHistory(of: id)
        if isDamaged {
            StandardStreams.writeNote("\(location): what this host has seen is damaged, and counts as not there")
        }
        let seen = try isDamaged ? nil : host.storage.history(of: id)
        let logs = files.map(\.log) + ([seen].compactMap(\.self) + histories).map(\.log)
        let longest = logs.max { $0.lines.count < $1.lines.count } ?? files[0].log
        let isAhead = longest.state.at > keysets.time + Freshness.toleranceInSeconds
        if isAhead, !clockIsConfirmed { try confirmClock(longest.state.at) }
        if try needsRestoring(logs) { try restore(&outcome, logs, longest, seen) }
        if isAhead {
            let log = try host.correctClock(location.path).log
            outcome.changes += log.lines.suffix(1).flatMap(\.deeds)
        }
        keysets.forgetPublishers()
        keysets.publish(&outcome)
        keysets.publishDevices(&outcome)
    }

    /// Whether no other command changes the keyset, or a file has lines or keys that it lacks.
    private func needsRestoring(_ logs: [KeysetLog]) throws -> Bool {
        do {
            let keyset = try host.lock(location.path)
            let found = Set(files.flatMap { $0.material.records.keys })
            return try logs.contains { !keyset.log.extends($0) }
                || keyset.state.keys.contains { $0.isLost && found.contains($0.kid) }
                || !keyset.files.others(of: keyset.state.id, than: location.path).isEmpty
                || keysets.isBehindServed(keyset.log, host)
                || keysets.lacksNamedLine(keyset.log, at: location)
        } catch is KeystoreRefusal { return true } catch is KeysetFileError { return true }
    }

    private func confirmClock(_ last: UnixTime) throws {
        let question = "\(location): its last change is of \(last), and the clock says \(keysets.time)"
        guard let terminal = Terminal(), StandardStreams.isInteractive else {
            throw Failure(.config, "\(question). Set the clock; if the clock is right, add --confirm-clock")
        }
        guard terminal.agrees("\(question). Is the clock right? Then the later times are corrected.\n") else {
            throw Failure(.config, "\(location): set the clock, then run this again; nothing was changed")
        }
    }

    private func restore(
        _ outcome: inout KeysetOutcome, _ logs: [KeysetLog], _ longest: KeysetLog, _ seen: KeysetHistory?
    ) throws {
        // Where logs part, the restoration asks in any case.
        let isAsked = logs.contains { !longest.extends($0) }
        guard
            !isUnauthenticated || isAsked
                || agrees("nothing authenticates keys in clear: anybody could have made the files")
        else {
            throw Failure(
                .config,
                "\(location): a person must agree to use these files: on a terminal, or with --over. Nothing was changed"
            )
        }
        let publishers = try keysets.publishers(nil).filter { $0 != location }.map(keysets.load)
        let present = keysets.present().found
        let restored = try host.restore(
            location.path, files, histories: histories, publishers: publishers,
            others: keysets.logs(otherThan: location)
        ) { what in
            guard case .unsignedSet = what else { return agrees(text(what, logs, longest)) }
            guard isOver || Terminal() != nil && StandardStreams.isInteractive else {
                StandardStreams.writeNote("\(location): \(text(what, logs, longest))")
                throw KeystoreRefusal.choiceNeeded(what)
            }
            return agrees(text(what, logs, longest))
        }
        outcome.changes += present.filter { !FileSystem.exists($0.path) }.map {
            "removed \($0), which was the same keyset"
        }
        guard restored.log.bytes != longest.bytes else { return }
        outcome.changes.append("continues after line \(longest.state.head.number), of \(longest.state.at)")
        for line in restored.log.lines.suffix(1) {
            outcome.changes += line.changes.keys.map(\.deed) + line.changes.keptRevocations
        }
        if let old = longest.state.writer, old != host.name {
            outcome.changes.append(
                "\(host.name) changes it from now on, before it was \(old): stop `pushcrypt rotate` there")
        }
        // The host that changed it has seen its last line, unless a set or another log shows that this one goes on.
        let isLast = longest.state.writer == host.name && seen?.log.state.head == longest.state.head
        guard !isLast || restored.log.lines.last?.changes.over.isEmpty == false else { return }
        StandardStreams.writeNote(
            "\(location): nothing shows what came after line \(longest.state.head.number): was a key revoked since? "
                + "Then revoke it again")
    }

    /// Whether a person gives something up.
    private func agrees(_ text: String) -> Bool {
        let text = "\(location): \(text)"
        guard !isOver, let terminal = Terminal(), StandardStreams.isInteractive else {
            StandardStreams.writeNote(text)
            return isOver
        }
        return terminal.agrees(
            TerminalText.wrap(
                lines: TerminalText.inLocale(TerminalText.harmless(lines: text)), width: StandardStreams.messageColumns)
                + "\n")
    }

    /// What is given up: where logs part, and what each did since.
    private func text(_ what: KeystoreRefusal.GivenUp, _ logs: [KeysetLog], _ longest: KeysetLog) -> String {
        switch what {
        case .log(let point):
            guard let log = logs.first(where: { $0.state.head == point }) else { return "another history is given up" }
            let common = zip(log.points, longest.points).prefix { $0 == $1 }.last?.0.number ?? 0
            return "two histories part after line \(common)\n  - this one continues: \(since(common, longest))"
                + "\n  - this one is given up, but not its revocations: \(since(common, log))"
        case .servedSet(let epoch, _, let revoked):
            let kids = revoked.map(\.description).joined(separator: ", ")
            return "the served set" + (epoch.map { " of epoch \($0)" } ?? "")
                + " has lines that no file here has. Kept are its revocations\(kids.isEmpty ? "" : " of \(kids)"); keys that only it "
                + "has and all else are given up"
        case .unsignedSet(let epoch, let point, let revoked):
            let file = "\(keysets.servedFolder ?? "")/\(ServedDocument.name(longest.state.id, epoch))"
            let kids = revoked.map(\.description).joined(separator: ", ")
            return "\(file) has line \(point.number), which no file here has, and no publisher here has signed it. "
                + (kids.isEmpty ? "It revokes no other key. " : "It revokes \(kids): that is kept. ")
                + "If it is forged, remove it first"
        case .namedPoint(let point):
            return "another keyset names line \(point.number) of it, which no file here has: it is given up"
        }
    }

    private func since(_ number: Int64, _ log: KeysetLog) -> String {
        let deeds = log.deeds(after: number)
        let shown = deeds.prefix(4).joined(separator: ", ") + (deeds.count > 4 ? " and \(deeds.count - 4) more" : "")
        let count = log.lines.count { $0.number > number }
        return "\(count) lines up to \(log.state.at): \(shown.isEmpty ? "no key changed" : shown)"
    }
}
