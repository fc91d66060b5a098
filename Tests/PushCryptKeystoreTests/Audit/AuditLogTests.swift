import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import Testing

@Suite struct AuditLogTests {
    private static let kid = KeyID.a
    private static let events: [[AuditEvent]] = [
        [AuditEvent(.created, kid, detail: "seals at once")],
        [AuditEvent(.policyChanged, detail: RotationPolicy.standard.json)],
        [AuditEvent(.revoked, kid, detail: "loses: a \"push\", a \\ and\na line\u{0}"), AuditEvent(.added, KeyID.b)],
        [AuditEvent(.destroyed, kid)],
    ]

    /// The lines of a log of four changes, and its head.
    private func log(reason: String? = "über 🔑") throws -> (lines: [String], head: AuditHead) {
        var (lines, head) = ([String](), AuditHead.none)
        for (index, events) in Self.events.enumerated() {
            head = try AuditLog.head(
                after: head, events: events, actor: Actor(name: "anna", reason: reason), at: .days(Int64(index)))
            lines += head.lastLines
        }
        return (lines, head)
    }

    private func read(_ line: String) throws -> JSONText { try JSONText(Array(line.utf8)) }

    @Test("each line of a log contains the hash of the previous line") func chain() throws {
        let (lines, head) = try log()
        #expect(lines.count == 5 && head.count == 5)
        #expect(head.lastLines == [lines[4]])
        var previous = [UInt8](repeating: 0, count: 32)
        for (index, line) in lines.enumerated() {
            let json = try read(line)
            #expect(json.root["n"]?.protocolInteger == Int64(index + 1))
            #expect(json.root["prev"]?.string == Base64URL.encode(previous))
            let bytes = Array(line.utf8)
            previous = try DefaultBackend.shared.sha256(bytes.bytes)
        }
        #expect(head.hash == previous)
        let own = try AuditLog(lines: lines).head()
        #expect(own.count == 5 && own.hash == head.hash)
        #expect(AuditLog(lines: lines).condition(head) == .whole)
    }

    @Test("a line contains every member of its event") func members() throws {
        let (lines, _) = try log()
        let revoked = try read(lines[2]).root
        #expect(revoked["at"]?.string == "1970-01-03T00:00:00Z")
        #expect(revoked["who"]?.string == "anna")
        #expect(revoked["what"]?.string == "revoked")
        #expect(revoked["kid"]?.string == Self.kid.description)
        #expect(revoked["detail"]?.string == "loses: a \"push\", a \\ and\na line\u{0}")
        #expect(revoked["why"]?.string == "über 🔑")
        let policy = try read(lines[1]).root
        #expect(policy["kid"] == nil)
        #expect(policy["detail"]?.string == RotationPolicy.standard.json)
        let silent = try read(log(reason: nil).lines[4]).root
        #expect(silent["why"] == nil && silent["detail"] == nil)
    }

    @Test(
        "a reason with control characters and quotes is read back unchanged",
        arguments: ["\n", "\r\n", "\"}\n{\"n\":2}", "\u{2028}", "\u{0}\u{1}\u{7F}", "\\", "\u{FFFD}", "e\u{301}", ""])
    func oddReasons(reason: String) throws {
        let (lines, head) = try log(reason: reason)
        #expect(lines.allSatisfy { !$0.utf8.contains(0x0A) })
        #expect(AuditLog(AuditLog.bytes(of: lines)).condition(head) == .whole)
        #expect(try read(lines[0]).root["why"]?.string.map { Array($0.utf8) } == Array(reason.utf8))
    }

    @Test("an empty log matches the head without lines") func empty() throws {
        #expect(AuditLog([]).condition(.none) == .whole)
        #expect(try AuditLog([]).head() == .none)
        #expect(AuditLog.bytes(of: []) == [])
    }

    @Test("every action has a name that no other action has") func everyActionHasItsOwnName() {
        #expect(Set(AuditEvent.Action.allCases.map(\.rawValue)).count == 16)
    }
}
