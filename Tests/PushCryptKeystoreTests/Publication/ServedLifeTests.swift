import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// Random lives of a sender keyset and of its sets in the folder that is served: changes, publications, lost files, and old copies that
/// come back. What must hold is computed from the JSON of the files.
@Suite("random lives of a keyset and its served sets")
struct ServedLifeTests {
    @Test(
        "no publication brings a key back that an earlier set gave up; a refusal has a finding; without a finding the served sets are the keyset's",
        arguments: 1...60 as ClosedRange<UInt64>)
    func life(seed: UInt64) throws {
        let life = try ServedLife(seed: seed)
        for _ in 0..<40 {
            try life.step()
            if let flaw = try life.flaw() {
                Issue.record("\(flaw)\n\(life.story.joined(separator: "\n"))")
                return
            }
        }
    }
}

private final class ServedLife {
    private let place: TemporaryFolder
    private let publisher: Editing
    private var random: SplitMix64
    private var time = UnixTime.days(20_000)
    private var copyCount = 0
    private(set) var story: [String] = []
    /// What the last step was refused with, and what it broke.
    private var refusal: String?
    private var brokenPromise: String?

    /// Of plain keys, and of files that are written later than the life's time.
    private static let ignored: Set = ["plain-text", "future-file", "clock-skew", "no-writer"]
    private static let topic = try! Topic("com.example.app")
    private static let actor = Actor(name: "tester", reason: nil)

    init(seed: UInt64) throws {
        place = try TemporaryFolder()
        publisher = try Editing(.publisher)
        random = SplitMix64(seed: seed)
        try FileManager.default.createDirectory(
            atPath: www, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        try store.create(record, .standard, .plaintext, nil, at: time, by: Self.actor)
        try change { try $0.publish(topics: [Self.topic], epoch: nil, validForInSeconds: nil) }
        for isSigned in [true, false] { try publish(isSigned: isSigned) }
    }

    private var path: String { place.path + "/Keys/senders" }
    private var www: String { place.path + "/www" }
    private var store: KeysetStore { KeysetStore(path) }
    private var files: FileManager { .default }

    private func change(_ body: (inout KeysetEditor) throws -> Void) throws {
        _ = try store.change(at: time, by: Self.actor, .none, body)
    }

    private func metadata() throws -> KeysetMetadata { try store.folder.file().metadata }

    /// Runs a random step. A refusal changes nothing.
    func step() throws {
        time = time + Int64.random(in: 3_600...20 * day, using: &random)
        refusal = nil
        let steps: [(String, () throws -> Void)] = [
            ("add", { try self.change { _ = try $0.add(activatesAt: self.time + 7 * day) } }),
            ("revoke", revoke), ("destroy", destroy), ("rotate", rotate), ("save a copy", saveCopy),
            ("the copy comes back", returnCopy), ("lose a file", loseFile), ("raise seq", raise),
            ("publish", { try self.publish(isSigned: true) }), ("publish", { try self.publish(isSigned: true) }),
            ("publish keys", { try self.publish(isSigned: false) }),
            ("publish all", { for isSigned in [true, false] { try self.publish(isSigned: isSigned) } }),
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

    private func keys(_ states: KeyState...) throws -> [KeyID] {
        let timeline = try metadata().timeline
        return timeline.keys.map(\.kid).filter { kid in timeline.state(of: kid, at: time).map(states.contains) ?? false
        }
    }

    private func revoke() throws {
        guard let kid = try keys(.primary, .pending, .retiring).randomElement(using: &random) else { return }
        story.append("  \(kid)")
        try change { try $0.revoke(kid) }
    }

    private func destroy() throws {
        guard let kid = try keys(.pending, .retiring, .revoked, .expired).randomElement(using: &random) else { return }
        story.append("  \(kid)")
        try change { try $0.destroy(kid, force: true) }
    }

    private func rotate() throws {
        _ = try store.rotate(at: time, by: Self.actor, .none) { $0.plan(at: self.time) }
    }

    private func saveCopy() throws {
        copyCount += 1
        try files.copyItem(atPath: path, toPath: place.path + "/copy\(copyCount)")
    }

    private func returnCopy() throws {
        guard copyCount > 0 else { return }
        try files.removeItem(atPath: path)
        try files.copyItem(
            atPath: place.path + "/copy\(Int.random(in: 1...copyCount, using: &random))", toPath: path)
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

    private func publish(isSigned: Bool) throws {
        let before = try servedFiles()
        let (keyset, folder) = (PublishedKeyset(path, ""), try PublicationFolder(www))
        let stored = try store.folder.file().unlocked(.none)
        if isSigned {
            let set = try PublishedSet(of: stored, by: publisher.stored, at: "Publisher/app")
            _ = try folder.publish(set, epoch: nil, of: keyset, as: "senders", at: time)
        } else {
            _ = try folder.publish(keysOf: stored, of: keyset, as: "senders", at: time)
        }
        let served = try #require(try servedFiles().first { $0.isServed && $0.isSigned == isSigned })
        let revoked = before.reduce(into: Set<String>()) { $0.formUnion($1.revoked) }
        let revived = served.valid.intersection(revoked)
        if !revived.isEmpty { brokenPromise = "a publication brought back \(revived)" }
        guard let newest = before.filter({ $0.isSigned == isSigned }).max(by: { $0.sequence < $1.sequence }) else {
            return
        }
        let earlier = before.filter { $0.sequence < newest.sequence && $0.isSigned == isSigned }
        let destroyed = earlier.reduce(into: Set<String>()) { $0.formUnion($1.kids) }.subtracting(newest.kids)
        let returned = served.valid.intersection(destroyed)
        if !returned.isEmpty { brokenPromise = "a publication brought back \(returned), which was destroyed" }
    }

    private struct File {
        let isSigned, isServed: Bool
        let sequence: Int64
        let kids, revoked: Set<String>
        var valid: Set<String> { kids.subtracting(revoked) }
    }

    private func servedFiles() throws -> [File] {
        try files.contentsOfDirectory(atPath: www).sorted().map { name in
            let isSigned = !name.hasSuffix(".jwks.json")
            var json = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: www + "/" + name)))
            if isSigned {
                let payload = try #require((json as? [String: Any])?["payload"] as? String)
                json = try JSONSerialization.jsonObject(
                    with: Data(#require(Base64URL.decode(Array(payload.utf8)[...]))))
            }
            let root = try #require(json as? [String: Any])
            let member = try #require(root["pushcrypt"] as? [String: Any])
            let entries = try #require(member["keys"] as? [String: [String: Any]])
            let kids = Set((root["keys"] as? [[String: Any]] ?? []).compactMap { $0["kid"] as? String })
            return File(
                isSigned: isSigned, isServed: name.split(separator: ".").count == (isSigned ? 2 : 3),
                sequence: try #require((member["seq"] as? NSNumber)?.int64Value), kids: kids,
                revoked: kids.filter { entries[$0]?["revokedAt"] != nil })
        }
    }

    /// What doesn't hold; nil if all holds.
    func flaw() throws -> String? {
        if let brokenPromise { return brokenPromise }
        var context = KeysetExamination.Context(at: time)
        context.served = try ServedFolder(www)
        let findings = try KeystoreExamination(path, context).findings.filter {
            $0.severity != .note && !Self.ignored.contains($0.code)
        }
        guard findings.isEmpty else { return nil }
        if let refusal { return "no finding, and publishing was refused: \(refusal)" }
        let metadata = try metadata()
        let timeline = metadata.timeline
        let revoked = Set(timeline.keys.filter { $0.lifecycle.revokedAt != nil }.map(\.kid.description))
        let all = Set(timeline.keys.map(\.kid.description))
        let files = try servedFiles()
        for isSigned in [true, false] {
            guard let served = files.first(where: { $0.isServed && $0.isSigned == isSigned }) else {
                // Without its copies nothing tells that keys of this keyset were served.
                guard isSigned || files.contains(where: { !$0.isSigned && !$0.kids.isDisjoint(with: all) }) else {
                    continue
                }
                return "no finding, and \(isSigned ? "the signed set" : "the set of keys") is gone"
            }
            if served.sequence > metadata.sequence { return "no finding, and the keyset is an old copy" }
            if !served.valid.isDisjoint(with: revoked) { return "no finding, and a revoked key is served" }
            if !served.kids.isSubset(of: all) { return "no finding, and a key is served that the keyset never had" }
            if let primary = timeline.primary(at: time)?.kid.description, !served.valid.contains(primary) {
                return "no finding, and the key that signs isn't served"
            }
            let isRecent = timeline.updatedAt.map { $0 + day >= time } ?? false
            if served.sequence < metadata.sequence, !isRecent { return "no finding, and a change wasn't published" }
        }
        return nil
    }
}
