package import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// The history of a keyset: JSON lines, each with the hash of the previous line.
///
/// ```
/// line = {"n": 1..., "at": TIME, "who": NAME, "what": ACTION, ["kid"], ["detail"], ["why"],
///         "prev": B64(SHA-256 of the line before, without its newline; 32 zero bytes before the first)}
/// ```
/// Somebody who can write the log can replace all of it. The keyset's file therefore holds its count and head, and
/// authenticates them if the keys are encrypted, so that a log that was cut, edited or exchanged is detected.
package struct AuditLog: Sendable {
    /// Without their newlines.
    package let lines: [String]
    /// Behind the last newline: what a crash left of an appended line.
    let tornTail: [UInt8]
    /// The first line that isn't UTF-8, from 0: its text, and so its hash, isn't what the file holds.
    private let firstUnreadable: Int?

    /// - Parameter bytes: the file.
    package init(_ bytes: [UInt8]) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        tornTail = Array(parts.popLast() ?? [])
        let lines = parts.map { String(decoding: $0, as: UTF8.self) }
        firstUnreadable = zip(lines, parts).enumerated().first { !$1.0.utf8.elementsEqual($1.1) }?.offset
        self.lines = lines
    }

    /// What the log's own chain gives.
    ///
    /// - Throws: `KeystoreError` with `auditBroken`, naming the first line that is wrong.
    package func head() throws -> AuditHead {
        var hash = AuditHead.none.hash
        for (index, line) in lines.enumerated() {
            let root = try? JSONText(Array(line.utf8)).root
            guard let root, index != firstUnreadable, root["n"]?.protocolInteger == Int64(index) + 1 else {
                throw KeystoreError(.auditBroken, "line \(index + 1) of the audit log is not line \(index + 1)")
            }
            guard root["prev"]?.utf8.flatMap(Base64URL.decode) == hash else {
                throw KeystoreError(
                    .auditBroken, "line \(index + 1) of the audit log doesn't follow from the line before it")
            }
            hash = try Self.hash(line)
        }
        return AuditHead(count: Int64(lines.count), hash: hash, lastLines: [])
    }

    /// The head after some events more.
    package static func head(
        after head: AuditHead, events: [AuditEvent], actor: Actor, at time: UnixTime
    ) throws -> AuditHead {
        var (count, hash, lines) = (head.count, head.hash, [String]())
        for event in events {
            count += 1
            let line = text(of: event, number: count, previous: hash, actor, time)
            hash = try Self.hash(line)
            lines.append(line)
        }
        return AuditHead(count: count, hash: hash, lastLines: lines)
    }

    private static func hash(_ line: String) throws -> [UInt8] {
        let bytes = Array(line.utf8)
        return try DefaultBackend.shared.sha256(bytes.bytes)
    }

    private static func text(
        of event: AuditEvent, number: Int64, previous: [UInt8], _ actor: Actor, _ time: UnixTime
    ) -> String {
        var output = Array("{\"n\":\(number),\"at\":\"\(time)\"".utf8)
        let members = [
            ("who", actor.name), ("what", event.action.rawValue), ("kid", event.kid?.description),
            ("detail", event.detail), ("why", actor.reason), ("prev", Base64URL.encode(previous)),
        ]
        for case (let name, let value?) in members {
            output += ",\"\(name)\":".utf8
            JSONWriter.appendString(value, to: &output)
        }
        output.append(UInt8(ascii: "}"))
        return String(decoding: output, as: UTF8.self)
    }
}

/// A change renames the keyset's file first and appends to the log after it. What a crash in between kept from the log
/// stands in the keyset's file.
extension AuditLog {
    package enum Condition: Equatable {
        case whole
        /// A crash kept these lines from the log; appending them to the whole lines completes it.
        case interrupted(missing: [String])
        /// What is wrong with it.
        case broken(String)
    }

    /// Compares the log with what the keyset's file says of it.
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
        let completed = AuditLog(lines: lines + missing)
        guard let result = try? completed.head(), result.count == head.count, result.hash == head.hash else {
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
