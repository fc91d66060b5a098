import Foundation
import PushCryptTestSupport
import Testing

@Suite("keys list of keysets with a broken audit log", .ownThreads)
struct ListedLogTests {
    private let place: Workplace
    private static let advice = "pushcrypt keys log Keys/a --start-new --reason WHY"

    init() throws {
        place = try Workplace()
        for path in ["Keys/a", "Keys/b", "Keys/c"] { try place.create(path, "shared") }
        for path in ["Keys/a", "Keys/b"] { try place.edit("\(path)/audit.jsonl") { $0 + "x\n" } }
    }

    private func list(_ arguments: String...) throws -> Output {
        try place.run(["keys", "list"] + arguments + ["--at", Workplace.now])
    }

    @Test("a keystore's list has every row and exits 65; stderr has the next command, one line for each broken log")
    func keystore() throws {
        let output = try list("Keys")
        #expect(output.exit == 65, "\(output)")
        let rows = output.text.split(separator: "\n")
        #expect(rows.count == 4 && rows[1].hasSuffix("the log is broken") && rows[2].hasSuffix("the log is broken"))
        #expect(rows[3].hasSuffix("add a key in 83d"), "\(output)")
        let lines = output.stderr.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains(Self.advice) && lines[1].contains("Keys/b: "), "\(output)")
        #expect(lines.allSatisfy { $0.contains("line 2 of the audit log doesn't have number 2") }, "\(output)")
    }

    @Test("in JSON, the objects of a keystore's list are whole, and logProblem has the fault")
    func json() throws {
        let output = try list("Keys", "--json")
        #expect(output.exit == 65, "\(output)")
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
        #expect(rows.map { $0["logProblem"] is String } == [true, true, false])
        #expect(rows.allSatisfy { $0["problem"] is NSNull && $0["primary"] is String && $0["logProblem"] != nil })
    }

    @Test("the list of a keyset exits 0, as for an earlier copy, and text, JSON and stderr name the fault")
    func keyset() throws {
        let output = try list("Keys/a")
        #expect(output.exit == 0 && output.text.contains("Problem: the audit log is broken: line 2"), "\(output)")
        #expect(output.stderr.split(separator: "\n").count == 1 && output.stderr.contains(Self.advice), "\(output)")
        let json = try list("Keys/a", "--json")
        let rows = try #require(try JSONSerialization.jsonObject(with: json.stdout) as? [[String: Any]])
        #expect((rows[0]["logProblem"] as? String)?.contains("line 2 of the audit log") == true, "\(json)")
        #expect(rows[0]["sealsNow"] as? Bool == true && rows[0]["problem"] == nil)
        let whole = try list("Keys/c", "--json")
        #expect(whole.isSuccess && !whole.text.contains("logProblem"), "\(whole)")
    }

    @Test("a step that is due on a keyset with a broken log is blocked, and the list doesn't advise to run rotate")
    func due() throws {
        let time = Workplace.later(85 * Workplace.days)
        let output = try place.run("keys", "list", "Keys/a", "--at", time)
        #expect(output.text.contains("Blocked: add a key, since "), "\(output)")
        #expect(output.text.contains(": the audit log is broken\n"), "\(output)")
        #expect(!output.text.contains("Due:") && !output.text.contains("pushcrypt rotate"), "\(output)")
        let whole = try place.run("keys", "list", "Keys/c", "--at", time)
        #expect(whole.text.contains("Run: pushcrypt rotate Keys/c"), "\(whole)")
    }

    @Test("the printed command starts a new log, after which the list is quiet")
    func pasted() throws {
        let command = Self.advice.replacing("WHY", with: "why").replacing("pushcrypt", with: "\"$PUSHCRYPT\"")
        #expect(try place.shell(command + " --yes --at \(Workplace.now)").exit == 0)
        #expect(try list("Keys/a").isSuccess)
    }
}
