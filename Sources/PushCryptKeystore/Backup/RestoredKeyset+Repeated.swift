import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives

/// A restoration that was made before, as by a command that was killed later and is repeated.
extension RestoredKeyset {
    /// The keyset in the folder if its last change restored this copy; nil if it didn't.
    ///
    /// The restoration is made again at its own time, without writing, and compared: the lines of the log, every key of the copy
    /// with its lifecycle, and everything else that a restoration takes from the copy. Only the keys that it adds differ each time.
    func restoredEarlier(_ writer: String?, _ secret: SecretSource) throws -> StoredKeyset? {
        guard let file = present.file else { return nil }
        let own = file.metadata
        guard own.audit.count == lines.count, present.lines.count == lines.count,
            present.derivedSequence <= own.sequence,
            later.entries.count == lines.count - Int(copy.metadata.audit.count), writer == nil || writer == own.writer,
            let index = later.entries.lastIndex(where: { $0.what == AuditEvent.Action.restored.rawValue })
        else { return nil }
        let (before, since) = (LaterChanges(Array(later.entries[..<index])), later.entries[index...])
        guard let first = since.first, first.detail == source || first.detail?.hasPrefix(source + ";") == true else {
            return nil
        }
        var copied = try copy.unlocked(secret, evenIfOlder: true)
        let times = [copied.metadata.timeline.updatedAt].compactMap(\.self) + before.entries.map(\.at)
        copied.metadata.timeline.updatedAt = times.max()
        var editor = KeysetEditor(copied, at: first.at, confirmsClock: true)
        try editor.restore(before, source, [])
        if since.last?.what == AuditEvent.Action.writerChanged.rawValue, let writer = own.writer {
            editor.handOver(to: writer)
        }
        guard editor.now == first.at, editor.events.count == since.count,
            zip(editor.events, since).allSatisfy({ $0.isSame(as: $1, at: first.at) }),
            let stored = try? file.unlocked(secret), try editor.stored.isSame(as: stored, except: Set(since.added))
        else { return nil }
        return stored
    }

    /// What a restoration says that was made before.
    func repeated(_ metadata: KeysetMetadata, _ secretArguments: String) -> Restoration {
        Restoration(
            metadata: metadata, events: [], lost: [], notices: [forgotten(secretArguments)].compactMap(\.self),
            isRepeated: true)
    }
}

extension ArraySlice<AuditEntry> {
    /// The keys that these lines add.
    fileprivate var added: [KeyID] {
        filter { $0.what == AuditEvent.Action.added.rawValue }.compactMap { $0.kid.flatMap(KeyID.init) }
    }
}

extension AuditEvent {
    /// Whether a line of the log says this; a key that is added is another one each time.
    fileprivate func isSame(as entry: AuditEntry, at time: UnixTime) -> Bool {
        entry.what == action.rawValue && entry.at == time && (action == .added || entry.kid == kid?.description)
    }
}

extension StoredKeyset {
    /// Whether a keyset has the same keys, lifecycles, policy, signed set and protection, apart from keys that one of both has added.
    /// `seq`, the log and the time of the last change aren't compared.
    fileprivate func isSame(as other: StoredKeyset, except added: Set<KeyID>) throws -> Bool {
        let (own, others) = (metadata, other.metadata)
        let copied = others.timeline.keys.filter { !added.contains($0.kid) }
        let new = own.timeline.keys.filter { key in !copied.contains { $0.kid == key.kid } }
        let othersNew = others.timeline.keys.filter { added.contains($0.kid) }
        return try own.kind == others.kind && own.policy == others.policy && own.publication == others.publication
            && protection == other.protection && secrets?.names == other.secrets?.names
            && new.count == added.count && othersNew.count == added.count
            && Set(new.map(\.lifecycle)) == Set(othersNew.map(\.lifecycle))
            && own.timeline.keys.count == others.timeline.keys.count
            && copied.allSatisfy { key in
                try own.timeline.key(key.kid)?.lifecycle == key.lifecycle
                    && own.traits[key.kid] == others.traits[key.kid]
                    && Self.isSame(records[key.kid], other.records[key.kid])
            }
    }

    private static func isSame(_ one: KeyRecord?, _ other: KeyRecord?) throws -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        var (text, otherText) = ([UInt8](), [UInt8]())
        text.reserveCapacity(KeyRecord.maximumJWKByteCount)
        otherText.reserveCapacity(KeyRecord.maximumJWKByteCount)
        defer {
            wipe(&text)
            wipe(&otherText)
        }
        try one.appendJWK(to: &text)
        try other.appendJWK(to: &otherText)
        return text == otherText
    }
}
