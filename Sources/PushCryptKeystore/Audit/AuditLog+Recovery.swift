import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets

/// A change renames the keyset's file first and appends to the log after it. What a crash in between kept from the log
/// stands in the keyset's file.
extension AuditLog {
    package enum Condition: Equatable {
        case whole
        /// The lines that a crash kept from the log; appending them to the whole lines mends it.
        case interrupted(missing: [String])
        /// What is wrong with it.
        case broken(String)
    }

    /// How the log stands to what the keyset's file remembers of it.
    package func condition(_ head: AuditHead) -> Condition {
        let own: AuditHead
        do {
            own = try self.head()
        } catch {
            return .broken((error as? KeystoreError)?.reason ?? "\(error)")
        }
        let missing = head.count - own.count
        if missing == 0 {
            guard own.hash == head.hash else {
                return .broken("the audit log is not the one that belongs to the keyset")
            }
            return tornTail.isEmpty ? .whole : .broken("the audit log goes on after its last whole line")
        }
        guard missing > 0 else {
            return .broken("the audit log has \(own.count) lines and the keyset knows of \(head.count)")
        }
        guard missing <= Int64(head.lastLines.count) else {
            return .broken("the audit log has \(own.count) of \(head.count) lines: its end was cut off")
        }
        return interruption(head, Array(head.lastLines.suffix(Int(missing))))
    }

    private func interruption(_ head: AuditHead, _ missing: [String]) -> Condition {
        guard Array(missing[0].utf8).starts(with: tornTail) else {
            return .broken("the audit log ends in half a line that the keyset doesn't know")
        }
        let mended = AuditLog(lines: lines + missing)
        guard let result = try? mended.head(), result.count == head.count, result.hash == head.hash else {
            return .broken("the audit log is not the one that belongs to the keyset")
        }
        return .interrupted(missing: missing)
    }

    package init(lines: [String]) {
        self.init(Self.bytes(of: lines))
    }

    package static func bytes(of lines: [String]) -> [UInt8] {
        Array(lines.map { $0 + "\n" }.joined().utf8)
    }
}

extension KeysetFolder {
    /// The audit log; empty where there is none.
    package func auditLog(in folder: Folder) throws -> AuditLog {
        guard folder.has(Self.auditName) else { return AuditLog([]) }
        let text = try KeystoreError.converting { () throws(FileError) in
            try folder.read(Self.auditName, .ownerOnly).bytes
        }
        return AuditLog(text)
    }
}
