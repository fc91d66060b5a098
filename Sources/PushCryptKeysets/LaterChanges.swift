package import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The changes in the audit log after the last change of the keyset beside it. Such a keyset is an earlier copy: without this
/// check, a restored backup would bring revoked keys back.
package struct LaterChanges: Hashable, Sendable, CustomStringConvertible {
    package let entries: [AuditEntry]

    package init(_ entries: [AuditEntry]) { self.entries = entries }

    package var description: String {
        "the audit log has \(entries.count) change\(entries.count == 1 ? "" : "s") after the keyset's last one: the keyset is an "
            + "earlier copy"
    }

    /// The first later lines that revoke or destroy a key which the keyset has neither revoked nor destroyed. A log in which a
    /// copy was restored has such a line twice.
    package func givenUp(in metadata: KeysetMetadata) -> [(kid: KeyID, entry: AuditEntry)] {
        func kids(_ isIncluded: (KeyLifecycle) -> Bool) -> Set<KeyID> {
            Set(metadata.timeline.keys.filter { isIncluded($0.lifecycle) }.map(\.kid))
        }
        let all = kids { _ in true }
        var destroyed = kids { $0.destroyedAt != nil }
        var revoked = kids { $0.revokedAt != nil }
        return entries.compactMap { entry in
            guard let kid = entry.kid.flatMap(KeyID.init), all.contains(kid), !destroyed.contains(kid),
                entry.what == "destroyed"
                    ? destroyed.insert(kid).inserted
                    : entry.what == "revoked" && revoked.insert(kid).inserted
            else { return nil }
            return (kid, entry)
        }
    }

    func refusal(of path: String, _ metadata: KeysetMetadata, _ secretArguments: String) -> KeystoreError {
        let givenUp = givenUp(in: metadata).map { kid, entry in
            "; at \(entry.at) key \(kid) was \(entry.what), and the copy still uses it"
        }
        return KeystoreError(
            .olderThanLog,
            "\(path): \(self), as after a restored backup\(givenUp.joined()). To continue from it with what the log revokes and "
                + "destroys, run: `\(Self.restoreCommand(path, secretArguments))`; add --dry-run to see what is lost, and --from FILE for a newer "
                + "backup")
    }

    /// Makes the earlier copy the keyset. It always goes back in time: the log has changes that the copy lacks.
    ///
    /// - Parameter secretArguments: as in ``SecretSource/arguments``.
    package static func restoreCommand(_ path: String, _ secretArguments: String) -> String {
        "pushcrypt keys restore \(ShellArgument.quoted(path)) --back-in-time\(secretArguments)"
    }
}

extension KeysetFolder {
    /// Compares the end of the audit log with the keyset's record of it. Reads and hashes only the lines from the keyset's last
    /// one on, so a log of thousands of lines costs a reader no more than a short one.
    ///
    /// - Returns: nil if the keyset is as new as its log, and for a log that doesn't contain the keyset's last line. Changes
    ///   refuse such a log, and `keys verify` reports it.
    func laterChanges(after head: AuditHead, in folder: Folder) throws -> LaterChanges? {
        guard folder.has(Self.auditName) else { return nil }
        return try KeystoreError.convertingFileErrors {
            let log = try folder.file(Self.auditName)
            let byteCount = try log.requireFile(.ownerOnly).byteCount
            var count: Int64 = 1 << 16
            while true {
                let end = try LogEnd(log, byteCount, reading: count)
                if let result = try end.later(than: head) { return result.changes }
                count *= 8
            }
        }
    }
}

/// The last lines of a log.
private struct LogEnd {
    let lines: [[UInt8]]
    /// Whether they are all lines.
    let isWhole: Bool

    init(_ log: OpenFile, _ byteCount: Int64, reading count: Int64) throws(FileError) {
        let start = max(0, byteCount - count)
        var bytes = [UInt8](repeating: 0, count: Int(byteCount - start))
        bytes.removeLast(bytes.count - (try log.readFull(into: &bytes, at: start)))
        // The first part can be half a line. The last one is empty, or what a crash left of a line.
        let parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
        lines = parts.dropFirst(start == 0 ? 0 : 1).map { Array($0) }
        isWhole = start == 0
    }

    /// - Returns: nil if more lines are needed.
    func later(than head: AuditHead) throws -> (changes: LaterChanges?, Void)? {
        let none: (changes: LaterChanges?, Void) = (nil, ())
        guard let last = lines.last else { return isWhole ? none : nil }
        guard try AuditChain.hash(last) != head.hash, let count = AuditChain.link(last)?.number, count > head.count
        else { return none }
        let later = count - head.count
        guard lines.count >= later + (head.count == 0 ? 0 : 1) else { return isWhole ? none : nil }
        let changes = lines.suffix(Int(later))
        var hash = try head.count == 0 ? AuditHead.none.hash : AuditChain.hash(lines[changes.startIndex - 1])
        guard hash == head.hash else { return none }
        for (number, line) in zip((head.count + 1)..., changes) {
            guard let link = AuditChain.link(line), link.number == number, link.previous == hash else { return none }
            hash = try AuditChain.hash(line)
        }
        return (LaterChanges(changes.compactMap { AuditEntry(line: String(decoding: $0, as: UTF8.self)) }), ())
    }
}
