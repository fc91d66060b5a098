import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport

/// What happens in a life.
extension Life {
    enum Act: String, CaseIterable {
        // Commands
        case rotate, revoke, publish, restore, move, correct, addPublisherKey, secondEpoch, seal
        // Accidents
        case snapshot, oldFile, oldDisk, oldHost, fire, copyToOtherHost, copy, swap, loseHistory, clock, setClock,
            dayInAnotherYear
        // Attackers of the web folder, of an encrypted keystore, and between the hosts
        case junk, replay, otherSet, forgedSet, forgedFile, forgedHistory, forgedTransit

        var isCommand: Bool { Self.commands.contains(self) }

        static let commands: [Act] =
            [.rotate, .revoke, .publish, .publish, .rotate, .revoke, .publish, .rotate, .revoke, .publish]
            + [.restore, .restore, .move, .correct, .addPublisherKey, .secondEpoch, .seal]
        static let accidents: [Act] =
            [.snapshot, .snapshot, .oldFile, .oldDisk, .oldHost, .oldHost, .fire, .copyToOtherHost, .copyToOtherHost]
            + [.copy, .swap, .loseHistory, .clock, .clock, .setClock, .dayInAnotherYear]
        static let attacks: [Act] = [
            .junk, .replay, .otherSet, .forgedSet, .forgedFile, .forgedHistory, .forgedTransit,
        ]
        /// What happens in a life of a kind, each as often as it stands here.
        static func all(_ kind: Kind) -> [Act] {
            let plain: [Act] = [.rotate, .rotate, .revoke, .publish, .publish, .seal]
            return switch kind {
            case .wild: commands + commands + accidents + attacks
            case .copies: plain + [.copyToOtherHost]
            case .files: plain + [.copy, .loseHistory]
            case .clocks: plain + [.clock, .setClock, .dayInAnotherYear, .correct]
            case .forks:
                [.rotate, .revoke, .revoke, .publish, .publish, .publish, .publish, .addPublisherKey]
                    + [.copyToOtherHost, .move, .move, .move, .snapshot, .seal, .seal, .restore, .restore]
            case .snapshots:
                [
                    .rotate, .revoke, .revoke, .publish, .publish, .publish, .snapshot, .oldHost, .oldDisk, .restore,
                    .restore,
                ]
            }
        }
    }

    /// A step of a life. The seed makes it independent of the steps before, so that a life can be shortened.
    struct Step: CustomStringConvertible {
        let act: Act
        let seed: UInt64
        var description: String { act.rawValue }
    }

    private struct Context {
        let host: LifeHost
        let path: String
        /// Whether an operator confirms the clock.
        let confirms: Bool
        let signer: LifeHost
    }

    func take(_ step: Step) throws {
        var random = SplitMix64(seed: step.seed)
        func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
        let host = chance(0.7) ? hosts[0] : hosts[1]
        world.time += [0, 1, 3, 10, 25].randomElement(using: &random)! * 86_400
        let before = (disks: hosts.map(\.storage.disk), histories: hosts.map(\.storage.histories))
        let paths = host.storage.disk.keys.filter { $0.hasPrefix("Keys/") }.sorted()
        let prefersSenders = chance(0.7)
        let path =
            paths.contains("Keys/senders") && prefersSenders || paths.isEmpty
            ? "Keys/senders" : paths.randomElement(using: &random)!
        let signer = signing.name == "c" ? signing : host
        let context = Context(
            host: host, path: path, confirms: host.skew == 0 || chance(0.05) && kind == .wild, signer: signer)
        do {
            try take(step.act, context, &random)
        } catch  where Self.isRefusal(error) {
            // A command may refuse; what holds after it is checked below.
        }
        if step.act.isCommand {
            try checkLogs(before.disks, before.histories)
        } else {
            for app in apps where !hasEvidence(for: app, on: hosts) { app.isBeyondLimit = true }
        }
        try check()
        try checkForks()
        for app in apps where chance(0.4) { app.fetch(served(app.epoch), at: UnixTime(world.time)) }
        for name in [name(id, 1), name(id, 2)] {
            if let document = world.served[name], !documents.contains(document) { documents.append(document) }
        }
    }

    static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case is KeystoreRefusal, is MemoryStorage.Crash: true
        case let error as KeysetFileError: error.cause.code == .notAuthentic
        case let error as LifecycleError: error.code != .invariantBroken
        default: false
        }
    }

    private func take(_ act: Act, _ context: Context, _ random: inout SplitMix64) throws {
        if act.isCommand {
            try command(act, context, &random)
        } else if Act.attacks.contains(act) {
            try attack(act, context, &random)
        } else {
            accident(act, context, &random)
        }
    }

    private func command(_ act: Act, _ context: Context, _ random: inout SplitMix64) throws {
        let (host, path) = (context.host, context.path)
        let keystore = host.keystore(context.confirms)
        switch act {
        case .rotate:
            let (beginsNow, crashes) = (Bool.random(using: &random), Int.random(in: 0..<3, using: &random) == 0)
            host.storage.crashes = crashes
            defer { host.storage.crashes = false }
            let log = try keystore.rotate(path, beginsNow: beginsNow)
            try keystore.recordRun(of: log.state.id, status: 0)
        case .revoke:
            let state = try keystore.load(path).state
            let kids = state.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid)
            guard let kid = kids.randomElement(using: &random) else { return }
            honestlyRevoked.insert(kid)
            try keystore.revoke(path, kid, destroying: Bool.random(using: &random))
        case .publish:
            let crash = [nil, nil, nil, LifeHost.Crash.afterLine, .afterFile].randomElement(using: &random)!
            try publish(host, path, signer: context.signer, confirmed: context.confirms, crash: crash)
        case .restore:
            // An old file, or that of another host.
            let offered =
                snapshots
                + hosts.flatMap { host in host.storage.disk.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 } }
            let (path, file) = offered.filter { $0.path.hasPrefix("Keys/") }.randomElement(using: &random)!
            var answers = SplitMix64(seed: random.next())
            var hasAgreed = false
            let known =
                [host.storage.histories[file.keyset.state.id]].compactMap(\.self).filter(isAuthentic).map(\.log)
                + ([file] + host.storage.disk.values).filter(\.isAuthentic).map(\.keyset.log)
            let before = host.storage.disk[path]?.keyset.log.state.head
            try restore(host, path, [file], confirmed: context.confirms) { _ in
                let agrees = Bool.random(using: &answers)
                hasAgreed = hasAgreed || agrees
                return agrees
            }
            let log = host.storage.disk[path]!.keyset.log
            try checkRestored(log, from: known, hasAgreed || log.state.head == before)
        case .move:
            let files = [host.storage.disk[path]].compactMap(\.self)
            try restore(host, path, files, confirmed: context.confirms) { _ in false }
        case .correct: if host.skew == 0 { try keystore.correctClock(path) }
        case .addPublisherKey:
            guard let file = signing.storage.disk["Pub/app"], file.keyset.state.keys.count < 3 else { return }
            let publisher = try signing.keystore(true).change("Pub/app", .rotated) { try $0.add(activatesAt: nil) }
            let newest = publisher.state.keys.last!.kid
            apps.append(try LifeApp(id, 1, pinning: [publisher.material.records[newest]!]))
            save(signing, "Pub/app")
        case .secondEpoch:
            let state = try keystore.load(path).state
            guard state.id == id, state.epochs[2] == nil, apps.count < 5 else { return }
            if signing.storage.disk["Pub/next"] == nil {
                _ = try signing.keystore().create("Pub/next", .publisher, secrets: Self.secrets)
                save(signing, "Pub/next")
            }
            let next = signing.storage.disk["Pub/next"]!.keyset
            try keystore.setEpoch(2, of: path, publisher: next.state.id)
            apps.append(try LifeApp(id, 2, pinning: Array(next.material.records.values)))
        default:
            let seen = host.storage.disk[path].flatMap { host.storage.histories[$0.keyset.state.id] }
            let key = try keystore.primary(path)
            if let log = host.storage.disk[path]?.keyset.log { watched.append(log) }
            if let seen, isAuthentic(seen), let key {
                try need(!seen.log.state.revoked.contains(key.kid), "sealed with a key that the history revokes")
            }
        }
    }

    func restore(
        _ host: LifeHost, _ path: String, _ files: [MemoryStorage.File], histories: [KeysetHistory] = [],
        others: [KeysetLog] = [], confirmed: Bool, agrees: @escaping (KeystoreRefusal.GivenUp) -> Bool
    ) throws {
        // The command reads files with the keyset's secret.
        let files = files.filter { $0.isAuthentic || !KeystoreRule.authenticate.isOn }.map(\.keyset)
        let publishers = hosts.flatMap(\.storage.disk).filter { $0.key.hasPrefix("Pub/") }.map(\.value.keyset)
        try host.keystore(confirmed).restore(
            path, files, histories: histories, publishers: publishers,
            others: host.storage.disk.values.map(\.keyset.log) + others
        ) { what in
            // All publishers are at hand: only a forged set has no signature.
            if case .unsignedSet = what { return false }
            let hasAgreed = agrees(what)
            hasGivenUpLines = hasGivenUpLines || hasAgreed
            return hasAgreed
        }
    }

    private func accident(_ act: Act, _ context: Context, _ random: inout SplitMix64) {
        let (storage, path) = (context.host.storage, context.path)
        switch act {
        case .snapshot: save(context.host, path)
        case .oldFile:
            let (old, file) = snapshots.randomElement(using: &random)!
            storage.disk[old.hasPrefix("Keys/") ? path : old] = file
        case .oldDisk: for (path, file) in snapshots.prefix(3) { storage.disk[path] = file }
        case .oldHost:
            for (path, file) in snapshots.prefix(3) { storage.disk[path] = file }
            storage.histories = [:]
        case .fire:
            (hosts[1].storage.disk, hosts[1].storage.histories) = ([:], [:])
            snapshots = Array(snapshots.prefix(2))
        case .copyToOtherHost:
            let isForward = Double.random(in: 0..<1, using: &random) < 0.6
            let (from, to) = isForward ? (hosts[0], hosts[1]) : (hosts[1], hosts[0])
            if let file = from.storage.disk[path] { to.storage.disk[path] = file }
        case .copy: if let file = storage.disk[path] { storage.disk[path + "c"] = file }
        case .swap:
            guard let one = storage.disk[path], let other = storage.disk["Keys/other"] else { return }
            (storage.disk[path], storage.disk["Keys/other"]) = (other, one)
        case .loseHistory: if let file = storage.disk[path] { storage.histories[file.keyset.state.id] = nil }
        case .dayInAnotherYear:
            // A key leaks on a day when the clock is a year ahead, and the clock is corrected.
            context.host.skew = 365 * 86_400
            if let file = storage.disk[path], file.isAuthentic, let kid = file.keyset.state.keys.last?.kid,
                (try? context.host.keystore().revoke(path, kid)) != nil
            {
                honestlyRevoked.insert(kid)
                // As the command does.
                try? publish(context.host, path, signer: context.signer, isUrgent: true)
            }
            context.host.skew = 0
            if Bool.random(using: &random) { _ = try? context.host.keystore().correctClock(path) }
        case .clock:
            context.host.skew = [-400, -5, 5, 29, 29, 365, 365].randomElement(using: &random)! * 86_400
        default: context.host.skew = 0
        }
    }

    private func attack(_ act: Act, _ context: Context, _ random: inout SplitMix64) throws {
        let storage = context.host.storage
        func serve(_ document: [UInt8]?) { world.served[name(id, 1)] = document ?? [] }
        switch act {
        case .junk: serve(Array("junk".utf8))
        case .replay: serve(documents.randomElement(using: &random))
        case .otherSet: serve(world.served.first { !$0.key.hasPrefix("\(id)") }?.value)
        case .forgedSet: serve(try forgedSet())
        case .forgedFile:
            guard var file = storage.disk[context.path] else { return }
            let log = try withEvilLines(file.keyset.log)
            var material = file.keyset.material
            material.records[Self.evil.kid] = Self.evil
            file.keyset = OpenedKeyset(log, material)
            storage.disk[context.path] = file
        case .forgedHistory:
            guard let seen = storage.histories[id] else { return }
            storage.histories[id] = KeysetHistory(try withEvilLines(seen.log), mac: seen.mac)
        default:
            let (epoch, addsKey) = ([1, 1, 2].randomElement(using: &random)!, Bool.random(using: &random))
            try publish(context.host, context.path, signer: context.signer, confirmed: context.confirms) {
                [self] sent in
                KeysetHistory(try withEvilLines(sent.log, published: Int64(epoch), addsKey: addsKey), mac: sent.mac)
            }
        }
    }

    /// A set with the highest number that revokes every key, signed by nobody whom apps pin.
    private func forgedSet() throws -> [UInt8] {
        let stranger = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        let kids = hosts.flatMap(\.storage.disk.values).flatMap { $0.keyset.state.keys.map(\.kid) }
        let lives = Set(kids).subtracting([Self.evil.kid]).sorted().map {
            "\"\($0)\":{\"revokedAt\":\"2026-01-01T00:00:00Z\"}"
        }
        let zero = Base64URL.encode([UInt8](repeating: 0, count: 32))
        let json =
            #"{"keys":[\#(try jwk(Self.evil))],"pushcrypt":{"seq":\#(KeysetLine.maximumNumber - 1),"set":"\#(id)","#
            + #""topics":["\#(LifeApp.topic)"],"epoch":1,"issuedAt":"1970-01-01T00:00:00Z","#
            + #""validUntil":"1970-03-01T00:00:00Z","head":"\#(zero)","keys":{"\#(Self.evil.kid)":{},"#
            + lives.joined(separator: ",") + "}}}"
        return try SignedSenderSet.sign(payload: Array(json.utf8), by: [stranger])
    }

    private func jwk(_ record: KeyRecord) throws -> String {
        String(decoding: try PublicJWK(record)!.json, as: UTF8.self)
    }

    /// The log with lines of an attacker who knows no secret: a key, the revocation of all others, no destructions.
    private func withEvilLines(
        _ log: KeysetLog, published epoch: Int64? = nil, addsKey: Bool = true
    ) throws -> KeysetLog {
        guard log.state.kind == .sender else { return log }
        var changes = KeysetChanges()
        if addsKey {
            var key = KeysetChanges.Key(Self.evil.kid)
            key.jwk = log.state.key(Self.evil.kid) == nil ? try PublicJWK(Self.evil) : nil
            key.moments = [.createdAt: log.state.at, .activatesAt: log.state.at]
            changes.keys = [key]
        }
        for other in log.state.keys where other.kid != Self.evil.kid {
            var change = KeysetChanges.Key(other.kid)
            change.moments = [.revokedAt: log.state.at, .destroyedAt: nil]
            changes.keys.append(change)
        }
        let forged = try log.appending(.rotated, at: log.state.at, who: "evil", changes)
        guard let epoch, log.state.epochs[epoch] != nil else { return forged }
        var publication = KeysetChanges()
        let issuedAt = max(log.state.at, log.state.issuedAt ?? log.state.at)
        (publication.issuedAt, publication.validUntil, publication.epoch) = (issuedAt, issuedAt + 60 * 86_400, epoch)
        return try forged.appending(.published, at: log.state.at, who: "evil", publication)
    }
}

/// What holds after each act.
extension Life {
    private func checkRestored(_ log: KeysetLog, from known: [KeysetLog], _ hasAgreed: Bool) throws {
        // Lines below one that a person has given up need no further choice.
        let over = (log.lines.last?.changes.over ?? []).filter { point in
            !known.contains { one in
                one.extends(point) && known.contains { $0.extends(one) && !$0.extends(point) }
            }
        }
        try need(hasAgreed || over.isEmpty, "lines are given up without a person")
        for revoked in known.filter({ $0.state.id == log.state.id }).map(\.state.revoked) {
            try need(log.state.revoked.isSuperset(of: revoked), "a restoration forgets a revocation")
        }
    }

    /// In a life of copies or files no log parts from another one.
    private func checkForks() throws {
        guard kind == .copies || kind == .files else { return }
        let logs = hosts.flatMap { $0.storage.disk.values.map(\.keyset.log) + $0.storage.histories.values.map(\.log) }
        for (index, one) in logs.enumerated() {
            for other in logs[..<index] where one.state.id == other.state.id {
                try need(one.extends(other) || other.extends(one), "two hosts or files have changed copies")
            }
        }
    }

    private func checkLogs(
        _ disks: [[String: MemoryStorage.File]], _ histories: [[KeysetID: KeysetHistory]]
    ) throws {
        for (host, (disk, histories)) in zip(hosts, zip(disks, histories)) {
            for (path, file) in disk where file.isAuthentic {
                guard let now = host.storage.disk[path]?.keyset.log, now.state.id == file.keyset.state.id else {
                    continue
                }
                try need(now.extends(file.keyset.log), "a command made a log shorter")
            }
            for (id, seen) in histories where isAuthentic(seen) {
                let now = host.storage.histories[id]
                try need(now?.log.extends(seen.log) ?? false, "a command made the history shorter")
            }
        }
    }

    func check() throws {
        for (path, file) in hosts.flatMap(\.storage.disk) where path.hasPrefix("Keys/") && file.isAuthentic {
            let log = file.keyset.log
            guard checkedHeads.insert(log.state.head).inserted else { continue }
            try need(!log.lines.contains { $0.who == "evil" }, "lines of an attacker are in an authentic log")
            try need(log.state.revoked.isSubset(of: honestlyRevoked), "an attacker has revoked a key")
            for key in log.state.keys {
                if kind == .clocks, key.lifecycle.destroyedAt != nil, key.lifecycle.revokedAt == nil,
                    let retired = key.lifecycle.retiresAt
                {
                    let end = retired + RotationPolicy.longestFlightInSeconds
                    try need(end <= UnixTime(world.time), "a key is destroyed before its pushes have ended")
                }
                guard let end = key.lifecycle.expiresAt, let retired = key.lifecycle.retiresAt else { continue }
                try need(
                    end >= retired + RotationPolicy.longestFlightInSeconds || key.lifecycle.revokedAt != nil,
                    "a key ends before its pushes")
            }
            // It costs as much as all other checks.
            guard log.state.head.hash[0].isMultiple(of: 4) else { continue }
            let destroyed = log.state.keys(with: .destroyedAt)
            try need(
                try destroyed.isSubset(of: withEvilLines(log).state.keys(with: .destroyedAt)), "a row brings a key back"
            )
        }
        for app in apps {
            try need(!app.verifies(Self.evil.kid, at: UnixTime(world.time)), "an app trusts an attacker")
            try need(app.isBeyondLimit || !app.hasDeadKey, "an app gets a dead key")
        }
    }
}
