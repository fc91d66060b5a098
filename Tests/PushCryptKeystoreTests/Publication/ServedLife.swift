import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// A random life of a keyset, of the publishers that sign its set, and of the sets in the folder that is served: changes, publications,
/// lost files, and old copies that come back. What must hold is computed from the JSON of the files.
final class ServedLife {
    /// Whether it is a keyset of senders, which has a signed set, or of recipients.
    let isSender: Bool
    let place: TemporaryFolder
    private var random: SplitMix64
    var time = UnixTime.days(20_000)
    /// The copies of a keyset, by its path, from the earliest on.
    private(set) var copies: [String: [String]] = [:]
    var story: [String] = []
    /// What the last step was refused with, and what it broke.
    var refusal: String?
    private var brokenPromise: String?
    /// The ids of the publisher keys that were destroyed, in whatever copy.
    var destroyedPublishers: Set<String> = []

    /// Of plain keys, and of files that are written later than the life's time.
    private static let ignored: Set = ["plain-text", "future-file", "clock-skew", "no-writer"]
    private static let topic = try! Topic("com.example.app")
    private static let actor = Actor(name: "tester", reason: nil)

    init(seed: UInt64) throws {
        place = try TemporaryFolder()
        random = SplitMix64(seed: seed)
        isSender = seed % 4 != 0
        for (path, mode) in [(www, 0o755), (place.path + "/Publisher", 0o700)] {
            try files.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
        }
        let (kind, time) = (isSender ? KeyKind.sender : .recipient, time)
        for (store, kind) in [(publisher, KeyKind.publisher), (store, kind)] {
            let record = try KeyRecord.generate(kind, backend: DefaultBackend.shared)
            try store.create(record, .standard, .plaintext, nil, at: time, by: Self.actor)
        }
        if isSender { try change { try $0.publish(topics: [Self.topic], epoch: nil, validForInSeconds: nil) } }
        try publishAll()
    }

    var path: String { place.path + "/Keys/senders" }
    var publisherPath: String { place.path + "/Publisher/app" }
    var www: String { place.path + "/www" }
    var store: KeysetStore { KeysetStore(path) }
    var publisher: KeysetStore { KeysetStore(publisherPath) }
    var files: FileManager { .default }

    func change(_ store: KeysetStore? = nil, _ body: (inout KeysetEditor) throws -> Void) throws {
        _ = try (store ?? self.store).change(at: time, by: Self.actor, .none, body)
    }

    func metadata() throws -> KeysetMetadata { try store.folder.file().metadata }

    /// Runs a random step. A refusal changes nothing.
    func step() throws {
        time = time + Int64.random(in: 3_600...20 * day, using: &random)
        refusal = nil
        let steps: [(String, () throws -> Void)] = [
            ("add", { try self.change { _ = try $0.add(activatesAt: self.time + 7 * day) } }),
            ("revoke", revoke), ("destroy", destroy), ("rotate", { try self.rotate() }),
            ("save a copy", { try self.saveCopy(of: self.path) }),
            ("the copy comes back", { try self.returnCopy(of: self.path) }),
            ("lose a file", loseFile), ("raise seq", raise),
            ("raise the epoch", raiseEpoch), ("add a publisher", addPublisher),
            ("destroy a publisher", destroyPublisher),
            ("save the publishers", { try self.saveCopy(of: self.publisherPath) }),
            ("the publishers' copy comes back", { try self.returnCopy(of: self.publisherPath) }),
            ("publish", { try self.publish(isSigned: self.isSender) }),
            ("publish keys", { try self.publish(isSigned: false) }),
            ("publish all", publishAll), ("publish all", publishAll), ("publish all", publishAll),
        ]
        let (name, body) = steps.randomElement(using: &random)!
        do {
            try body()
            story.append("\(time) \(name): seq \(try metadata().sequence)")
        } catch let error as KeystoreError {
            if error.code == .notPublished { refusal = "\(error)" }
            story.append("\(time) \(name): \(error)")
        } catch is LifecycleError {
        } catch is KeyError {
        }
    }

    private func keys(_ states: KeyState..., of store: KeysetStore) throws -> [KeyID] {
        let timeline = try store.folder.file().metadata.timeline
        return timeline.keys.map(\.kid).filter { kid in timeline.state(of: kid, at: time).map(states.contains) ?? false
        }
    }

    private func revoke() throws {
        guard let kid = try keys(.primary, .pending, .retiring, of: store).randomElement(using: &random) else { return }
        story.append("  \(kid)")
        try change { try $0.revoke(kid) }
    }

    private func destroy() throws {
        guard let kid = try keys(.pending, .retiring, .revoked, .expired, of: store).randomElement(using: &random)
        else { return }
        story.append("  \(kid)")
        try change { try $0.destroy(kid, force: true) }
    }

    func rotate(confirmsClock: Bool = false) throws {
        _ = try store.rotate(at: time, by: Self.actor, .none) {
            $0.plan(at: self.time, confirmsClock: confirmsClock)
        }
    }

    private func addPublisher() throws {
        guard try livePublishers().count < 3 else { return }
        try change(publisher) { _ = try $0.add(activatesAt: self.time) }
    }

    private func destroyPublisher() throws {
        let live = try livePublishers()
        guard live.count > 1, let kid = live.randomElement(using: &random) else { return }
        story.append("  \(kid)")
        try change(publisher) { try $0.destroy(kid, force: true) }
        destroyedPublishers.insert(kid.description)
    }

    private func livePublishers() throws -> [KeyID] {
        try publisher.folder.file().metadata.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid)
    }

    private func saveCopy(of path: String) throws {
        let name = path.split(separator: "/").last!
        let copy = place.path + "/\(name).copy\(copies[path, default: []].count)"
        try files.copyItem(atPath: path, toPath: copy)
        copies[path, default: []].append(copy)
    }

    private func returnCopy(of path: String) throws {
        guard let copy = copies[path]?.randomElement(using: &random) else { return }
        try replace(path, withCopy: copy)
    }

    func replace(_ path: String, withCopy copy: String) throws {
        try files.removeItem(atPath: path)
        try files.copyItem(atPath: copy, toPath: path)
    }

    private func loseFile() throws {
        let served = Bool.random(using: &random) ? ["senders.json", "senders.jwks.json"] : nil
        let names = try files.contentsOfDirectory(atPath: www).sorted().filter { served?.contains($0) ?? true }
        guard let name = names.randomElement(using: &random) else { return }
        story.append("  \(name)")
        try files.removeItem(atPath: www + "/" + name)
    }

    /// As the refusal of an old copy advises.
    private func raise() throws {
        let highest = try servedFiles().map(\.sequence).max() ?? 0
        try change {
            try $0.publish(
                topics: nil, epoch: nil, validForInSeconds: nil, sequence: max(highest, $0.metadata.sequence) + 1)
        }
    }

    private func raiseEpoch() throws {
        guard isSender, Int.random(in: 0..<3, using: &random) == 0 else { return }
        try change {
            try $0.publish(topics: nil, epoch: ($0.metadata.publication?.epoch ?? 0) + 1, validForInSeconds: nil)
        }
    }

    /// The apps in use keep the name of their epoch.
    private func publishAll() throws {
        try publish(isSigned: false)
        guard let publication = try metadata().publication else { return }
        for epoch in 1...publication.epoch { try publish(isSigned: true, epoch: epoch) }
    }

    private static func name(ofEpoch epoch: Int64) -> String { epoch == 1 ? "senders" : "senders-\(epoch)" }

    func publish(isSigned: Bool, epoch: Int64? = nil, as name: String? = nil, isNewPublisher: Bool = false) throws {
        let before = try servedFiles()
        let (keyset, folder) = (PublishedKeyset(path, ""), try PublicationFolder(www))
        let stored = try store.folder.file().unlocked(.none)
        let epoch = epoch ?? stored.metadata.publication?.epoch ?? 1
        let name = name ?? (isSigned ? Self.name(ofEpoch: epoch) : "senders")
        if isSigned {
            let set = try PublishedSet(of: stored, by: publisher.folder.file().unlocked(.none), at: publisherPath)
            _ = try folder.publish(set, epoch: epoch, of: keyset, as: name, isNewPublisher: isNewPublisher, at: time)
        } else {
            _ = try folder.publish(keysOf: stored, of: keyset, as: name, at: time)
        }
        let served = try #require(try servedFiles().first { $0.isServed && $0.isSigned == isSigned && $0.name == name })
        try examine(served, before)
    }

    /// Records a promise that a publication broke, given the files before it.
    private func examine(_ served: File, _ before: [File]) throws {
        func record(_ keys: Set<String>, _ reason: String) {
            if !keys.isEmpty { brokenPromise = "a publication brought back \(keys), \(reason)" }
        }
        record(served.valid.intersection(before.reduce(into: []) { $0.formUnion($1.revoked) }), "which was revoked")
        for copy in try servedFiles() where !copy.isServed {
            guard let old = before.first(where: { $0.file == copy.file }), old.signers != copy.signers else { continue }
            brokenPromise = "\(copy.file) was signed again: it no longer shows that \(old.signers) have signed it"
        }
        let createdAt = try publisher.folder.file().metadata.timeline.keys.reduce(into: [:]) {
            $0[$1.kid.description] = $1.lifecycle.createdAt
        }
        for file in before where !file.signers.isDisjoint(with: createdAt.keys) {
            let destroyed = served.signers.intersection(destroyedPublishers).subtracting(file.signers)
            record(
                destroyed.filter { kid in createdAt[kid].map { $0 < file.issuedAt! } ?? false }, "which was destroyed")
        }
        guard let newest = before.filter({ $0.isSigned == served.isSigned }).max(by: { $0.sequence < $1.sequence })
        else { return }
        let earlier = before.filter { $0.sequence < newest.sequence && $0.isSigned == served.isSigned }
        let destroyed = earlier.reduce(into: Set<String>()) { $0.formUnion($1.kids) }.subtracting(newest.kids)
        record(served.valid.intersection(destroyed), "which was destroyed")
    }

    private struct File {
        let file: String
        /// Without number and suffix.
        let name: Substring
        let isSigned, isServed: Bool
        let sequence: Int64
        let kids, revoked, signers: Set<String>
        /// Of a signed set.
        let issuedAt: UnixTime?
        var valid: Set<String> { kids.subtracting(revoked) }
    }

    private func servedFiles() throws -> [File] {
        try files.contentsOfDirectory(atPath: www).sorted().filter { $0.hasSuffix(".json") }.map { name in
            let isSigned = !name.hasSuffix(".jwks.json")
            var json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: www + "/" + name)))
            var signers = Set<String>()
            if isSigned {
                let document = try #require(json as? [String: Any])
                let signatures = try #require(document["signatures"] as? [[String: Any]])
                signers = Set(
                    signatures.compactMap { signature in
                        guard let header = signature["protected"] as? String,
                            let bytes = Base64URL.decode(Array(header.utf8)[...]),
                            let json = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
                        else { return nil }
                        return json["kid"] as? String
                    })
                let payload = try #require(document["payload"] as? String)
                json = try JSONSerialization.jsonObject(
                    with: Data(#require(Base64URL.decode(Array(payload.utf8)[...]))))
            }
            let root = try #require(json as? [String: Any])
            let member = try #require(root["pushcrypt"] as? [String: Any])
            let entries = try #require(member["keys"] as? [String: [String: Any]])
            let kids = Set((root["keys"] as? [[String: Any]] ?? []).compactMap { $0["kid"] as? String })
            let parts = name.split(separator: ".")
            return File(
                file: name, name: parts[0], isSigned: isSigned, isServed: parts.count == (isSigned ? 2 : 3),
                sequence: try #require((member["seq"] as? NSNumber)?.int64Value), kids: kids,
                revoked: kids.filter { entries[$0]?["revokedAt"] != nil }, signers: signers,
                issuedAt: (member["issuedAt"] as? String).flatMap { UnixTime(rfc3339: $0) })
        }
    }

    func findings() throws -> [Finding] {
        var context = KeysetExamination.Context(at: time)
        context.served = try ServedFolder(www)
        context.addPublishers(in: [publisherPath], areExamined: false)
        return try KeystoreExamination(path, context).findings.filter {
            $0.severity != .note && !Self.ignored.contains($0.code)
        }
    }

    /// What doesn't hold; nil if all holds.
    func flaw() throws -> String? {
        if let brokenPromise { return brokenPromise }
        guard try findings().isEmpty else { return nil }
        if let refusal { return "no finding, and publishing was refused: \(refusal)" }
        let metadata = try metadata()
        let timeline = metadata.timeline
        let all = Set(timeline.keys.map(\.kid.description))
        let files = try servedFiles()
        for isSigned in isSender ? [true, false] : [false] {
            let served = files.filter { $0.isServed && $0.isSigned == isSigned }
            if served.isEmpty {
                // Without its copies nothing tells that keys of this keyset were served.
                guard isSigned || files.contains(where: { !$0.isSigned && !$0.kids.isDisjoint(with: all) }) else {
                    continue
                }
                return "no finding, and \(isSigned ? "the signed set" : "the set of keys") is gone"
            }
            for file in served {
                if let difference = try difference(file, metadata) { return "no finding, and " + difference }
            }
        }
        return nil
    }

    /// How a served file differs from what the keyset serves; nil if it doesn't.
    private func difference(_ served: File, _ metadata: KeysetMetadata) throws -> String? {
        let timeline = metadata.timeline
        let revoked = Set(timeline.keys.filter { $0.lifecycle.revokedAt != nil }.map(\.kid.description))
        if served.sequence > metadata.sequence { return "the keyset is an old copy" }
        if !served.valid.isDisjoint(with: revoked) { return "a revoked key is served" }
        if !served.kids.isSubset(of: timeline.keys.map(\.kid.description)) {
            return "a key is served that the keyset never had"
        }
        if isSender, let primary = timeline.primary(at: time)?.kid.description, !served.valid.contains(primary) {
            return "the key that signs isn't served"
        }
        if served.isSigned, served.signers != Set(try livePublishers().map(\.description)) {
            return "the publishers differ from those that have signed"
        }
        let isRecent = timeline.updatedAt.map { $0 + day >= time } ?? false
        return served.sequence < metadata.sequence && !isRecent ? "a change wasn't published" : nil
    }
}
