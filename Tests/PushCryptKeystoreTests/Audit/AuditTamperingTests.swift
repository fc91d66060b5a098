import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// Logs that don't match the head in the keyset's file, because of an attacker or a crash.
@Suite struct AuditTamperingTests {
    /// Five changes, of which the last wrote three lines.
    private static func log(by name: String = "anna") throws -> (lines: [String], head: AuditHead) {
        var (lines, head) = ([String](), AuditHead.none)
        for change in 0..<5 {
            let count = change == 4 ? 3 : 1
            let events = (0..<count).map { AuditEvent(.added, KeyID.a, detail: "änderung \(change).\($0)") }
            head = try AuditLog.head(
                after: head, events: events, actor: Actor(name: name, reason: nil), at: .days(Int64(change)))
            lines += head.lastLines
        }
        return (lines, head)
    }

    private func flaw(_ bytes: [UInt8], _ head: AuditHead) -> String? {
        if case .broken(let flaw) = AuditLog(bytes).condition(head) { flaw } else { nil }
    }

    private func flaw(_ lines: [String], _ head: AuditHead) -> String? { flaw(AuditLog.bytes(of: lines), head) }

    /// A crash can remove only lines of the last change. A shorter log was cut by an attacker.
    @Test("a log cut within the lines of the last change is interrupted, and one cut before them is broken")
    func everyPrefix() throws {
        let (lines, head) = try Self.log()
        let bytes = AuditLog.bytes(of: lines)
        let known = AuditLog.bytes(of: Array(lines.dropLast(3))).count
        for count in 0...bytes.count {
            let log = AuditLog(Array(bytes[..<count]))
            switch log.condition(head) {
            case .whole: #expect(count == bytes.count)
            case .interrupted(let missing):
                #expect(count >= known && count < bytes.count)
                #expect(log.lines + missing == lines)
            case .newer: Issue.record("cut at \(count)")
            case .broken: #expect(count < known, "cut at \(count)")
            }
        }
        #expect(flaw(Array(bytes[..<(known - 1)]), head)?.contains("its end was cut off") == true)
    }

    /// A crash can leave a new keyset without a log.
    @Test("an empty log is completed with the lines of the first change") func emptyLog() throws {
        let events = [AuditEvent(.created, KeyID.a), AuditEvent(.added, KeyID.b)]
        let head = try AuditLog.head(
            after: .none, events: events, actor: Actor(name: "anna", reason: nil), at: .days(0))
        #expect(AuditLog([]).condition(head) == .interrupted(missing: head.lastLines))
    }

    /// Flips a bit of every third byte and of every newline, in a whole log and in one with a partial line after a crash.
    @Test("a log with one flipped bit is broken") func flippedBits() throws {
        let (lines, head) = try Self.log()
        let whole = AuditLog.bytes(of: lines)
        for bytes in [whole, Array(whole.dropLast(40))] {
            for index in bytes.indices where index.isMultiple(of: 3) || bytes[index] == 0x0A {
                var changed = bytes
                changed[index] ^= index.isMultiple(of: 2) ? 0x01 : 0x80
                #expect(flaw(changed, head) != nil, "byte \(index) of \(bytes.count)")
            }
        }
    }

    @Test("a log with a removed, repeated or inserted line is broken") func lines() throws {
        let (lines, head) = try Self.log()
        for index in lines.indices {
            var removed = lines
            removed.remove(at: index)
            var doubled = lines
            doubled.insert(lines[index], at: index)
            var emptied = lines
            emptied.insert("", at: index)
            let isLast = index == lines.count - 1
            #expect((flaw(removed, head) != nil) != isLast, "a crash can keep the last line from the log")
            #expect(flaw(doubled, head) != nil)
            #expect(flaw(emptied, head) != nil)
            for other in lines.indices where other > index {
                var swapped = lines
                swapped.swapAt(index, other)
                #expect(flaw(swapped, head) != nil)
            }
        }
        #expect(flaw(lines + [""], head) != nil)
        #expect(flaw(lines + lines, head) != nil)
    }

    /// An attacker who can write the log but not the keyset's file makes lines with correct hashes.
    @Test("a log that was replaced by another valid chain is broken") func replacedLog() throws {
        let (lines, head) = try Self.log()
        let other = try Self.log(by: "mallory")
        #expect(flaw(other.lines, head)?.contains("doesn't belong to the keyset") == true)
        #expect(flaw(Array(other.lines.dropLast(3)), head) != nil, "the missing lines don't follow from it")
        let longer = try AuditLog.head(
            after: head, events: [AuditEvent(.added, KeyID.b)], actor: Actor(name: "mallory", reason: nil), at: .days(9)
        )
        guard case .newer(let later) = AuditLog(lines: lines + longer.lastLines).condition(head) else {
            Issue.record("a log with later lines")
            return
        }
        #expect(later.entries.map(\.number) == [8])
        #expect(AuditLog(lines: lines + longer.lastLines).condition(longer) == .whole)
    }

    @Test("a log is broken if the head's hash doesn't match the head's last lines") func inconsistentHead() throws {
        let (lines, head) = try Self.log()
        var other = head
        other.lastLines[2] = head.lastLines[2].replacing("anna", with: "otto")
        #expect(flaw(Array(lines.dropLast()), other) != nil)
        other = head
        other.hash[31] ^= 1
        #expect(flaw(Array(lines.dropLast(3)), other) != nil)
    }

    @Test("a log with bytes after its last line is broken, unless a crash can have left them") func tornTail() throws {
        let (lines, head) = try Self.log()
        let bytes = AuditLog.bytes(of: lines)
        #expect(flaw(bytes + [0x20], head)?.contains("has more bytes after its last whole line") == true)
        let cut = AuditLog.bytes(of: Array(lines.dropLast()))
        #expect(flaw(cut + Array("{\"n\":8".utf8), head)?.contains("a partial line") == true)
        #expect(AuditLog(cut + Array("{\"n\":7".utf8)).condition(head) == .interrupted(missing: [lines[6]]))
    }

    /// Invalid UTF-8 must not count as the replacement character that decoding gives.
    @Test("a line that isn't UTF-8 makes the log broken") func replacementCharacters() throws {
        let actor = Actor(name: "anna \u{FFFD}", reason: nil)
        let head = try AuditLog.head(after: .none, events: [AuditEvent(.created, KeyID.a)], actor: actor, at: .days(0))
        let bytes = AuditLog.bytes(of: head.lastLines)
        #expect(AuditLog(bytes).condition(head) == .whole)
        let character = Array("\u{FFFD}".utf8)
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: character) })
        #expect(flaw(bytes[..<start] + [0xFF] + bytes[(start + 3)...], head) != nil)
    }

    @Test("the error names the first line that is wrong") func names() throws {
        let (lines, head) = try Self.log()
        var edited = lines
        edited[2] = lines[2].replacing("anna", with: "otto")
        #expect(
            flaw(edited, head)
                == "line 4 of the audit log doesn't contain the hash of line 3: one of the two was changed")
        edited = lines
        edited.remove(at: 2)
        #expect(flaw(edited, head)?.contains("line 3 of the audit log doesn't have number 3") == true)
        edited[0] = "not JSON"
        #expect(flaw(edited, head)?.contains("line 1 of the audit log doesn't have number 1") == true)
    }
}
