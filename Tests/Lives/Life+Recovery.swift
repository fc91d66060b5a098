import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport

/// The end of each life: attackers stop, clocks are right, and one restoration and one publication end everything.
extension Life {
    func recover() throws {
        let host = hosts[0]
        isEnding = true
        for host in hosts { host.skew = 0 }
        var asked: [KeystoreRefusal.GivenUp] = []
        let files = snapshots.map { ($0.path, $0.file) } + hosts.flatMap { $0.storage.disk.map { ($0.key, $0.value) } }
        let own = files.filter { $0.0.hasPrefix("Keys/") && $0.1.isAuthentic && $0.1.keyset.state.id == id }
            .map(\.1)
        let publishers = snapshots.filter { $0.path == "Pub/app" }.map(\.file)
        let served = world.served
        let histories = hosts.flatMap(\.storage.histories.values).filter { isAuthentic($0) }
        let seen = histories.filter { $0.log.state.id == id }
        func agree(_ what: KeystoreRefusal.GivenUp) -> Bool {
            asked.append(what)
            return true
        }
        for (host, path, files) in [(signing, "Pub/app", publishers), (host, "Keys/senders", own)] {
            let storage = host.storage
            if let file = storage.disk[path], file.keyset.state.id != files[0].keyset.state.id {
                storage.disk[path] = nil
                storage.disk[path + "x"] = file
            }
            let best = Self.longest(files)
            let histories = hosts.compactMap { $0.storage.histories[best.keyset.state.id] }
            try restore(host, path, [best], histories: histories, confirmed: true, agrees: agree)
            try host.keystore().correctClock(path)
        }
        let hasOwnSet = served.contains { $0.key.hasPrefix("\(id)") && ServedDocument($0.value)?.id == id }
        let asksForSet = asked.contains { if case .servedSet = $0 { true } else { false } }
        try need(!asksForSet || hasOwnSet, "a set of another keyset asks for a choice")
        guard let restored = host.storage.disk["Keys/senders"]?.keyset else { throw Broken(what: "no keyset is left") }
        let state = restored.state
        // Every newer copy of the publisher is lost, and the restored log names a line of it.
        if let app = signing.storage.disk["Pub/app"], let point = state.publisherPoints[app.keyset.state.id],
            !app.keyset.log.extends(point)
        {
            try restore(signing, "Pub/app", [app], others: [restored.log], confirmed: true, agrees: agree)
        }
        for kid in Set(own.flatMap { $0.keyset.material.records.keys }) {
            guard let key = state.key(kid), key.lifecycle.destroyedAt != nil else { continue }
            try need(
                honestlyRevoked.contains(kid) || key.lifecycle.expiresAt != nil,
                "material that a file has is lost for good")
        }
        let known = seen.reduce(into: Self.longest(own).keyset.log.allPoints) { $0.formUnion($1.log.allPoints) }
        for log in watched where log.state.id == id && known.contains(log.state.head) {
            try need(restored.log.extends(log), "a running backend refuses the restored keyset")
        }
        try check()
        try host.keystore(true).rotate("Keys/senders")
        var replacing = false
        while true {
            do {
                try publish(host, "Keys/senders", signer: signing, confirmed: true, replacing: replacing)
                break
            } catch let refusal as KeystoreRefusal {
                guard case .servedAhead(let point, _) = refusal, !replacing else { throw refusal }
                _ = agree(.servedSet(epoch: nil, point, revokes: []))
                replacing = true
            }
        }
        // One choice for each log or set that was lost, and none for what another one contains.
        let tips = ((own + publishers).map(\.keyset.log) + histories.map(\.log)).filter {
            asked.contains(.log($0.state.head))
        }
        for point in asked.map(\.point) {
            try need(!tips.contains { $0.state.head != point && $0.extends(point) }, "a choice is part of another one")
        }
        try checkApps(state.epochs, asked)
    }

    private static func longest(_ files: [MemoryStorage.File]) -> MemoryStorage.File {
        files.max { $0.keyset.log.lines.count < $1.keyset.log.lines.count }!
    }

    private func checkApps(_ epochs: [Int64: KeysetID], _ asked: [KeystoreRefusal.GivenUp]) throws {
        let now = UnixTime(world.time)
        guard let primary = try hosts[0].keystore().primary("Keys/senders") else {
            throw Broken(what: "no key seals after the restoration")
        }
        for app in apps where !app.isBeyondLimit && epochs[app.epoch] != nil {
            let pinned = Set(app.pins.publishers.map(\.kid))
            let signs = signing.storage.disk.contains { path, file in
                path.hasPrefix("Pub/")
                    && pinned.isSubset(of: file.keyset.state.keys.filter(\.hasMaterial).map(\.kid))
            }
            guard signs else { continue }
            try need(app.fetch(served(app.epoch), at: now), "an app can accept no set")
            try need(app.verifies(primary.kid, at: now), "an app doesn't verify the primary key")
        }
    }
}

extension KeystoreRefusal.GivenUp {
    fileprivate var point: LogPoint {
        switch self {
        case .log(let point), .servedSet(_, let point, _), .unsignedSet(_, let point, _), .namedPoint(let point): point
        }
    }
}

/// Searching and shortening.
extension Life {
    /// The first of these lives that breaks, shortened; nil if none does.
    package static func report(_ seeds: Range<UInt64>) -> String? { report(seeds) { World() } }

    static func report(_ seeds: Range<UInt64>, in world: () throws -> World) -> String? {
        search(seeds, in: world).map { "life \($0): \($1): \(shortened($0, steps($0), in: world))" }
    }

    /// Why the life breaks; nil if it doesn't.
    static func failure(
        _ seed: UInt64, _ steps: [Step], in world: () throws -> World = { World() }
    ) -> String? {
        do {
            let life = try Life(seed, in: world())
            for step in steps { try life.take(step) }
            try life.recover()
            return nil
        } catch let error as Broken {
            return error.what
        } catch {
            return "\(error)"
        }
    }

    static func steps(_ seed: UInt64, atMost count: Int = 40) -> [Step] {
        var random = SplitMix64(seed: ~seed)
        let acts = Act.all(kind(seed))
        return (0..<Int.random(in: 3...count, using: &random)).map { _ in
            Step(act: acts.randomElement(using: &random)!, seed: random.next())
        }
    }

    /// The shortest life that breaks in the same way.
    static func shortened(
        _ seed: UInt64, _ steps: [Step], in world: () throws -> World = { World() }
    ) -> [Step] {
        let what = failure(seed, steps, in: world)
        var (steps, index) = (steps, 0)
        while index < steps.count {
            var shorter = steps
            shorter.remove(at: index)
            if failure(seed, shorter, in: world) == what { (steps, index) = (shorter, 0) } else { index += 1 }
        }
        return steps
    }

    /// The first life that breaks.
    ///
    /// - Parameter kind: nil for all kinds.
    static func search(
        _ seeds: Range<UInt64>, _ kind: Kind? = nil, in world: () throws -> World = { World() }
    ) -> (seed: UInt64, what: String)? {
        for seed in seeds where kind.map({ $0 == Self.kind(seed) }) ?? true {
            if let what = failure(seed, steps(seed), in: world) { return (seed, what) }
        }
        return nil
    }
}
