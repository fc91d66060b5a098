import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// What a set that a web server serves says about itself. Its signature isn't verified: apps do that, and another publisher may
/// have signed it.
struct ServedSet {
    let path: String
    /// The set itself, as JSON: in a signed set, what is signed.
    let payload: [UInt8]
    /// Of a signed set.
    let publication: SenderSetPublication?
    let sequence: Int64
    private let kids: Set<KeyID>
    private let revoked: Set<KeyID>

    static func suffix(isSigned: Bool) -> String { isSigned ? ".json" : ".jwks.json" }

    /// - Returns: nil for bytes that are no set that `keys publish` writes.
    init?(_ bytes: [UInt8], path: String, isSigned: Bool) {
        let payload = isSigned ? (try? JSONText(bytes).root["payload"]?.utf8).flatMap(Base64URL.decode) : bytes
        guard let payload, let root = try? JSONText(payload).root, let keys = root["keys"], keys.kind == .array,
            let member = root["pushcrypt"], let sequence = member["seq"]?.protocolInteger
        else { return nil }
        publication = isSigned ? try? SenderSetPublication(member) : nil
        guard !isSigned || publication != nil else { return nil }
        self.path = path
        self.payload = payload
        self.sequence = sequence
        let kids = keys.elements.compactMap { $0["kid"]?.string.flatMap(KeyID.init) }
        self.kids = Set(kids)
        revoked = Set(kids.filter { member["keys"]?[$0.description]?["revokedAt"] != nil })
    }

    /// Without the suffix.
    var name: String { String(FileSystem.name(of: path).dropLast(Self.suffix(isSigned: isSigned).count)) }
    var isSigned: Bool { publication != nil }
    var isEmpty: Bool { kids.isEmpty }

    func hasKey(of timeline: KeyTimeline) -> Bool { timeline.keys.contains { kids.contains($0.kid) } }

    /// Whether the set is that of the keyset's last change, which has the same `seq`. Its keys aren't compared bit by bit.
    func isSet(of metadata: KeysetMetadata) -> Bool {
        let timeline = metadata.timeline
        guard let publication else { return !PublicCondition(payload, metadata, nil).isForeign }
        return publication.issuedAt == timeline.updatedAt
            && kids == Set(timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid))
    }

    /// The keys that the set revokes and the keyset doesn't: it is a copy from before the revocation.
    func revived(by timeline: KeyTimeline) -> [KeyID] {
        timeline.keys.filter { key in
            key.lifecycle.revokedAt == nil && key.lifecycle.destroyedAt == nil && revoked.contains(key.kid)
        }.map(\.kid).sorted()
    }

    /// The keys that the keyset revokes and the set doesn't: apps go on using them.
    func unrevoked(in timeline: KeyTimeline) -> [(kid: KeyID, at: UnixTime)] {
        timeline.keys.compactMap { key in
            guard let time = key.lifecycle.revokedAt, kids.contains(key.kid), !revoked.contains(key.kid) else {
                return nil
            }
            return (key.kid, time)
        }
    }
}

extension ServedSet {
    /// The copy with the highest number that `keys publish` left beside the set: NAME.SEQ.json, NAME.SEQ.jwks.json.
    static func newestCopy(of name: String, isSigned: Bool, in folder: Folder) -> ServedSet? {
        let suffix = suffix(isSigned: isSigned)
        let numbered = ((try? folder.names()) ?? []).compactMap { file -> (file: String, sequence: Int64)? in
            guard file.hasPrefix(name + "."), file.hasSuffix(suffix) else { return nil }
            return Int64(file.dropFirst(name.count + 1).dropLast(suffix.count)).map { (file, $0) }
        }
        return numbered.sorted { $0.sequence > $1.sequence }.lazy.compactMap { file, _ in
            (try? folder.read(file).bytes).flatMap { ServedSet($0, path: folder.path(of: file), isSigned: isSigned) }
        }.first
    }
}
