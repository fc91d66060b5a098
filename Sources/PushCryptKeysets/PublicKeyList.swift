package import PushCryptCore
import PushCryptPrimitives

/// What a set of public keys says about its keyset: its `seq`, which keys it has, and which of them it revokes. The keys themselves
/// aren't parsed.
package struct PublicKeyList: Sendable {
    package let sequence: Int64
    package let kids: Set<KeyID>
    /// Whether a key is a sender's, which signs; the others are recipients'.
    package let areSenders: Bool
    private let revoked: Set<KeyID>
    /// When the last of the keys begins to seal; nil if the set doesn't say so.
    package let lastActivation: UnixTime?

    /// - Returns: nil for another text.
    package init?(json bytes: [UInt8]) {
        guard let root = try? JSONText(bytes).root else { return nil }
        self.init(root)
    }

    /// - Returns: nil for another JSON value.
    package init?(_ root: JSONValue) {
        guard let keys = root["keys"], keys.kind == .array, let member = root["pushcrypt"],
            let sequence = member["seq"]?.protocolInteger
        else { return nil }
        self.sequence = sequence
        let kids = keys.elements.compactMap { $0["kid"]?.string.flatMap(KeyID.init) }
        self.kids = Set(kids)
        areSenders = keys.elements.contains { $0["crv"]?.isString("Ed25519") == true }
        revoked = Set(kids.filter { member["keys"]?[$0.description]?["revokedAt"] != nil })
        lastActivation = kids.compactMap { kid in
            member["keys"]?[kid.description]?["activatesAt"]?.string.flatMap(UnixTime.init(rfc3339:))
        }.max()
    }

    /// Whether keys of this kind can be a keyset's. Nothing tells this of a set without keys.
    package func hasKind(of metadata: KeysetMetadata) -> Bool {
        kids.isEmpty || areSenders == (metadata.kind == .sender)
    }

    package func hasKey(of timeline: KeyTimeline) -> Bool { timeline.keys.contains { kids.contains($0.kid) } }

    /// The keys that the set doesn't revoke and the keyset has never had.
    package func unknown(to timeline: KeyTimeline) -> [KeyID] {
        kids.subtracting(revoked).subtracting(timeline.keys.map(\.kid)).sorted()
    }

    /// The keys that the set revokes and the keyset doesn't: it is a copy from before the revocation.
    package func revived(by timeline: KeyTimeline) -> [KeyID] {
        timeline.keys.filter { key in
            key.lifecycle.revokedAt == nil && key.lifecycle.destroyedAt == nil && revoked.contains(key.kid)
        }.map(\.kid).sorted()
    }

    /// The keys that the keyset revokes and the set doesn't. Apps and senders that fetch the set still use them.
    package func unrevoked(in timeline: KeyTimeline) -> [(kid: KeyID, at: UnixTime)] {
        timeline.keys.compactMap { key in
            guard let time = key.lifecycle.revokedAt, kids.contains(key.kid), !revoked.contains(key.kid) else {
                return nil
            }
            return (key.kid, time)
        }
    }
}
