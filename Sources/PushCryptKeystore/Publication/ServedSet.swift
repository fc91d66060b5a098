import PushCryptCore
import PushCryptFiles

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
