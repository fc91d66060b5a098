package import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// The history of a keyset in JSON lines. Each line contains the hash of the previous one.
///
/// ```
/// line = {"n": 1..., "at": TIME, "who": NAME, "what": ACTION, ["kid"], ["detail"], ["why"],
///         "prev": B64(SHA-256 of the previous line without its newline; 32 zero bytes in the first line)}
/// ```
/// A user who can write the log can replace all of it. So the keyset's file contains the number of lines and the last hash,
/// and authenticates them if the keys are encrypted. A log that was cut, edited or replaced is detected.
package struct AuditLog: Sendable {
    package let lines: [String]
    /// The bytes after the last newline: the part of a line that was written before a crash.
    let tornTail: [UInt8]
    /// The index of the first line that isn't UTF-8. `lines` contains replacement characters for its invalid bytes.
    private let firstUnreadable: Int?

    package init(_ bytes: [UInt8]) {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        tornTail = Array(parts.popLast() ?? [])
        let lines = parts.map { String(decoding: $0, as: UTF8.self) }
        firstUnreadable = zip(lines, parts).enumerated().first { !$1.0.utf8.elementsEqual($1.1) }?.offset
        self.lines = lines
    }

    /// Checks the chain of hashes and returns the number of lines and the last hash.
    ///
    /// - Throws: `KeystoreError` with `auditBroken`, with the number of the first wrong line.
    package func head() throws -> AuditHead {
        var hash = AuditHead.none.hash
        for (index, line) in lines.enumerated() {
            let root = try? JSONText(Array(line.utf8)).root
            guard let root, index != firstUnreadable, root["n"]?.protocolInteger == Int64(index) + 1 else {
                throw KeystoreError(.auditBroken, "line \(index + 1) of the audit log doesn't have number \(index + 1)")
            }
            guard root["prev"]?.utf8.flatMap(Base64URL.decode) == hash else {
                throw KeystoreError(.auditBroken, Self.wrongHash(inLine: index + 1))
            }
            hash = try AuditChain.hash(Array(line.utf8))
        }
        return AuditHead(count: Int64(lines.count), hash: hash, lastLines: [])
    }

    /// The line itself may be as it was written: a change of the previous line changes that one's hash.
    private static func wrongHash(inLine number: Int) -> String {
        let line = "line \(number) of the audit log doesn't contain the hash of "
        return number == 1 ? line + "a first line" : line + "line \(number - 1): one of the two was changed"
    }

    package static func head(
        after head: AuditHead, events: [AuditEvent], actor: Actor, at time: UnixTime
    ) throws -> AuditHead {
        var (count, hash, lines) = (head.count, head.hash, [String]())
        for event in events {
            count += 1
            let line = text(of: event, number: count, previous: hash, actor, time)
            hash = try AuditChain.hash(Array(line.utf8))
            lines.append(line)
        }
        return AuditHead(count: count, hash: hash, lastLines: lines)
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

extension AuditLog {
    /// The keys that its lines are about, also those that the keyset doesn't have any more.
    var keys: Set<KeyID> { Set(lines.compactMap { AuditEntry(line: $0)?.kid.flatMap(KeyID.init) }) }

    /// When the keyset was last restored without its later log, so that keys of that time are unknown; nil if it never was.
    var lostAt: UnixTime? {
        lines.lazy.reversed().filter { $0.contains(AuditEvent.Action.logLost.rawValue) }.compactMap(AuditEntry.init)
            .first { $0.what == AuditEvent.Action.logLost.rawValue }?.at
    }

    /// Whether the log matches the head in the keyset's file.
    ///
    /// A change renames the keyset's file first and then appends to the log. After a crash in between, the keyset's file
    /// contains the lines that the log lacks.
    package enum Condition: Equatable {
        case whole
        /// The log lacks these lines because of a crash. Appending them completes it.
        case interrupted(missing: [String])
        /// The log continues after the keyset's last change: the keyset is an earlier copy.
        case newer(LaterChanges)
        /// The log doesn't match. The text names the fault.
        case broken(String)
    }

    /// Whether it is the log of the keyset with this head, up to the keyset's last change or further.
    func belongs(to head: AuditHead) -> Bool {
        if case .broken = condition(head) { return false }
        return !lines.isEmpty && head.count > 0
    }

    package func condition(_ head: AuditHead) -> Condition {
        let own: AuditHead
        do {
            own = try self.head()
        } catch {
            return .broken((error as? KeystoreError)?.reason ?? "\(error)")
        }
        let missing = head.count - own.count
        if missing == 0 {
            guard own.hash == head.hash else { return .broken("the audit log doesn't belong to the keyset") }
            return tornTail.isEmpty ? .whole : .broken("the audit log has more bytes after its last whole line")
        }
        guard missing > 0 else {
            guard let later = try? laterChanges(after: head) else {
                return .broken("the audit log has \(own.count) lines, and the keyset records \(head.count)")
            }
            return .newer(later)
        }
        guard missing <= Int64(head.lastLines.count) else {
            return .broken(
                own.count == 0
                    ? "the audit log is missing or empty, and the keyset records \(head.count) lines"
                    : "the audit log has \(own.count) of \(head.count) lines: its end was cut off")
        }
        return interruption(head, Array(head.lastLines.suffix(Int(missing))))
    }

    /// - Returns: nil if the log doesn't contain the head.
    private func laterChanges(after head: AuditHead) throws -> LaterChanges? {
        let count = Int(head.count)
        let hash = try count == 0 ? AuditHead.none.hash : AuditChain.hash(Array(lines[count - 1].utf8))
        return hash == head.hash ? LaterChanges(lines[count...].compactMap(AuditEntry.init)) : nil
    }

    private func interruption(_ head: AuditHead, _ missing: [String]) -> Condition {
        guard Array(missing[0].utf8).starts(with: tornTail) else {
            return .broken("the audit log ends in a partial line that the keyset doesn't contain")
        }
        let completed = AuditLog(lines: lines + missing)
        guard let result = try? completed.head(), result.count == head.count, result.hash == head.hash else {
            return .broken("the audit log doesn't belong to the keyset")
        }
        return .interrupted(missing: missing)
    }

    package init(lines: [String]) { self.init(Self.bytes(of: lines)) }

    package static func bytes(of lines: [String]) -> [UInt8] {
        Array(lines.map { $0 + "\n" }.joined().utf8)
    }
}

extension KeysetFolder {
    /// The audit log; empty if there is no file.
    package func auditLog(in folder: Folder) throws -> AuditLog {
        guard folder.has(Self.auditName) else { return AuditLog([]) }
        return AuditLog(try KeystoreError.convertingFileErrors { try folder.read(Self.auditName, .ownerOnly).bytes })
    }
}

extension AuditLog {
    /// The entries of the log and its fault, if any. Includes the lines that the log lacks because of a crash; omits lines
    /// that can't be parsed.
    package func history(_ head: AuditHead) -> (entries: [AuditEntry], flaw: String?) {
        switch condition(head) {
        case .whole: (lines.compactMap(AuditEntry.init), nil)
        case .interrupted(let missing): ((lines + missing).compactMap(AuditEntry.init), nil)
        case .newer(let later): (lines.compactMap(AuditEntry.init), later.description)
        case .broken(let flaw): (lines.compactMap(AuditEntry.init), "the audit log is broken: \(flaw)")
        }
    }
}

extension AuditLog {
    /// The first restoration without a log of what came after the copy that no operator has confirmed; nil if there is none.
    package func unconfirmedRestoration(_ head: AuditHead) -> AuditEntry? {
        let entries = history(head).entries
        let confirmed = entries.lastIndex { $0.what == AuditEvent.Action.restoreConfirmed.rawValue }
        return entries[(confirmed.map { $0 + 1 } ?? 0)...].first { $0.what == AuditEvent.Action.logLost.rawValue }
    }

    /// - Parameter secretArguments: as in `SecretSource.arguments`.
    static func confirmCommand(_ path: String, _ secretArguments: String) -> String {
        "pushcrypt keys restore \(ShellArgument.quoted(path)) --confirm\(secretArguments)"
    }
}

/// One change of a keyset, which becomes a line of the audit log. It never contains key material.
package struct AuditEvent: Hashable, Sendable {
    package enum Action: String, Sendable, CaseIterable {
        case created, added, imported, promoted, retired, revoked, destroyed
        case policyChanged, protectionChanged
        /// Another host changes the keyset from now on.
        case writerChanged
        /// An earlier copy of the keyset replaced it.
        case restored
        /// The restored copy had no log after it, so what was revoked after it is unknown.
        case logLost
        /// An operator has revoked again what was revoked after such a copy.
        case restoreConfirmed
        /// The id, the topics, the epoch or the validity of the signed set.
        case publicationChanged
        /// The signed set was issued again.
        case renewed
        case logRestarted = "logBegunAnew"
    }

    package let action: Action
    package let kid: KeyID?
    package let detail: String?

    package init(_ action: Action, _ kid: KeyID? = nil, detail: String? = nil) {
        self.action = action
        self.kid = kid
        self.detail = detail
    }
}

package struct Actor: Hashable, Sendable {
    package let name: String
    package let reason: String?
    /// The host; nil if it has no name. See ``Writer``.
    package let writer: String?
    /// The options that name the secret of the keyset, for commands that errors advise: each begins with a space.
    package var secretArguments = ""

    package init(name: String, reason: String?, writer: String? = nil) {
        self.name = name
        self.reason = reason
        self.writer = writer
    }
}
