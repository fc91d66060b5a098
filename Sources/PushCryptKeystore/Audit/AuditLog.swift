package import PushCryptCore
package import PushCryptKeysets
import PushCryptPrimitives

/// The history of a keyset: JSON lines, each with the hash of the one before.
///
/// ```
/// line = {"n": 1..., "at": TIME, "who": NAME, "what": ACTION, ["kid"], ["detail"], ["why"],
///         "prev": B64(SHA-256 of the line before, without its newline; 32 zero bytes before the first)}
/// ```
/// Whoever can write the log can write all of it anew; the keyset's file holds its count and head, and under encryption
/// authenticates them, so that a log that was cut, edited or exchanged shows.
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
