import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

@Suite struct AuditEntryTests {
    private static let line =
        #"{"n":3,"at":"2026-03-01T09:00:00Z","who":"ann","what":"revoked","kid":"AAAAAAAAAAA","detail":"d","why":"w","prev":"x"}"#

    @Test("a written line is parsed with all its members") func allMembers() throws {
        let entry = try #require(AuditEntry(line: Self.line))
        #expect(entry.number == 3)
        #expect(entry.at == UnixTime(rfc3339: "2026-03-01T09:00:00Z"))
        #expect([entry.who, entry.what] == ["ann", "revoked"])
        #expect([entry.kid, entry.detail, entry.why] == ["AAAAAAAAAAA", "d", "w"])
    }

    @Test("a line without the optional members is parsed") func optionalMembers() throws {
        let entry = try #require(
            AuditEntry(line: #"{"n":1,"at":"2026-03-01T09:00:00Z","who":"ann","what":"somethingNew","prev":"x"}"#))
        #expect(entry.what == "somethingNew")
        #expect([entry.kid, entry.detail, entry.why] == [nil, nil, nil])
    }

    @Test(
        "a line that lacks a required member isn't parsed",
        arguments: ["\"n\":3,", "\"at\":\"2026-03-01T09:00:00Z\",", "\"who\":\"ann\",", "\"what\":\"revoked\",", "{"])
    func requiredMembers(_ member: String) {
        #expect(AuditEntry(line: Self.line.replacing(member, with: "")) == nil)
    }

    @Test("the history contains lines that the log lacks because of a crash")
    func interruptedLog() throws {
        let (lines, head) = try log(of: [.created, .added, .promoted])
        let whole = AuditLog(lines: lines).history(head)
        #expect(whole.entries.map(\.what) == ["created", "added", "promoted"] && whole.flaw == nil)
        let interrupted = AuditLog(lines: Array(lines.dropLast())).history(head)
        #expect(interrupted.entries == whole.entries && interrupted.flaw == nil)
    }

    @Test("the history of a log that was cut names the flaw") func cutLog() throws {
        let (lines, head) = try log(of: [.created, .added, .promoted])
        let cut = AuditLog(lines: Array(lines.dropLast(2))).history(head)
        #expect(cut.entries.map(\.what) == ["created"])
        #expect(cut.flaw?.contains("cut off") == true)
    }

    /// A log with one change for each action. The head contains the last line.
    private func log(of actions: [AuditEvent.Action]) throws -> ([String], AuditHead) {
        var (head, lines) = (AuditHead.none, [String]())
        for action in actions {
            head = try AuditLog.head(
                after: head, events: [AuditEvent(action)], actor: Actor(name: "ann", reason: nil), at: UnixTime(0))
            lines += head.lastLines
        }
        return (lines, head)
    }
}
