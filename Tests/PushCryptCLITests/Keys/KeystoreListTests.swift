import Foundation
import PushCryptCore
import Testing

@Suite("keys list of a keystore", .ownThreads)
struct KeystoreListTests {
    @Test(
        "keys list of a keystore prints a line for each keyset without asking for a secret",
        arguments: ["Keys", "Keys/", "Keys//"])
    func table(_ path: String) throws {
        let (place, kids) = try makePlace()
        let output = try place.run("keys", "list", path, "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        #expect(
            Workplace.named(output.text, kids) == """
                KEYSET    KIND       KEYS  PRIMARY      PROTECTION  NEXT STEP
                Keys/app  shared     5     key number4  plain text  due: destroy key key number1
                Keys/ios  recipient  1     key number6  plain text  add a key in 83d
                Keys/web  sender     1     key number7  passphrase  add a key in 83d

                """)
    }

    @Test("--json is an array of objects with the plan of each")
    func json() throws {
        let (place, kids) = try makePlace()
        let rows = try place.keystoreRows("Keys")
        #expect(rows.map { $0["keyset"] as? String } == ["Keys/app", "Keys/ios", "Keys/web"])
        #expect(rows.map { $0["kind"] as? String } == ["shared", "recipient", "sender"])
        #expect(rows.map { $0["keys"] as? Int } == [5, 1, 1])
        #expect(rows.map { $0["primary"] as? String } == [kids[4], kids[6], kids[7]])
        #expect(rows.map { $0["protection"] as? String } == ["plain text", "plain text", "passphrase"])
        #expect(rows.allSatisfy { $0["problem"] is NSNull })
        let due = rows.map { ($0["due"] as? [[String: Any]])?.map { $0["kid"] as? String } }
        #expect(due == [[kids[1]], [], []])
        let next = rows.map { ($0["next"] as? [String: Any])?["step"] as? String }
        #expect(next == ["destroy", "add", "add"])
        #expect(rows.allSatisfy { ($0["blocked"] as? [Any])?.isEmpty == true })
    }

    @Test("a time far after the last change shows every step as blocked")
    func blocked() throws {
        let (place, _) = try makePlace()
        let text = try place.run("keys", "list", "Keys", "--at", "2036-03-01T09:00:00Z").text
        #expect(text.split(separator: "\n").dropFirst().allSatisfy { $0.contains("  blocked: ") })
    }

    @Test("keysets that can't be read are listed and reported, and the exit status is 65")
    func problems() throws {
        let (place, _) = try makePlace()
        try place.makeFolder("Keys/aaa")
        try place.write(Data("{".utf8), to: "Keys/aaa/keyset.json")
        try place.setMode(0o644, of: "Keys/ios/keyset.json")
        let output = try place.run("keys", "list", "Keys", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        let lines = output.text.split(separator: "\n")
        #expect(lines.map { $0.hasSuffix("can't be read") } == [false, true, false, true, false])
        let complaints = output.stderr.split(separator: "\n")
        #expect(complaints.count == 2)
        let alone = try place.run("keys", "list", "Keys/aaa", "--at", Workplace.now)
        #expect(alone.stderr == complaints[0] + "\n")
        #expect(complaints[0].hasPrefix("pushcrypt: Keys/aaa/keyset.json: not a JSON text"))
        #expect(complaints[0].hasSuffix("`pushcrypt keys restore --from FILE Keys/aaa`"))
        #expect(complaints[1].contains("chmod 600 Keys/ios/keyset.json"))
        let rows = try place.keystoreRows("Keys")
        #expect(rows.map { $0["problem"] is String } == [true, false, true, false])
        #expect(rows[0].count == 2)
    }

    @Test("a keyset whose file is lost is reported in the words of its own list, with the command that restores it")
    func lost() throws {
        let (place, _) = try makePlace()
        try place.remove("Keys/ios/keyset.json")
        let output = try place.run("keys", "list", "Keys", "--at", Workplace.now)
        let alone = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(output.exit == alone.exit && output.stderr == alone.stderr, "\(output) \(alone)")
        #expect(output.stderr.contains("`pushcrypt keys restore --from FILE Keys/ios`"), "\(output)")
    }

    @Test("a clock that seems wrong is in the JSON of a keystore and of a keyset; otherwise it is null or missing")
    func clockProblem() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        func problem(_ path: String, at time: String) throws -> Any? {
            let output = try place.run("keys", "list", path, "--json", "--at", time)
            let rows = try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]]
            return try #require(rows?.first, "\(output)")["clockProblem"]
        }
        for (time, words) in [
            (Workplace.later(-3_600), "which is before the last change at \(Workplace.now)"),
            (Workplace.later(401 * Workplace.days), "more than 400d after the last change at \(Workplace.now)"),
        ] {
            for path in ["Keys", "Keys/ios"] {
                let text = try #require(try problem(path, at: time) as? String, "\(path) \(time)")
                #expect(text.hasPrefix("the clock is at ") && text.contains(words), "\(text)")
            }
        }
        #expect(try problem("Keys", at: Workplace.now) is NSNull)
        #expect(try problem("Keys/ios", at: Workplace.now) == nil)
    }

    @Test("the table in 60 columns keeps names and next steps")
    func narrow() throws {
        let (place, _) = try makePlace()
        let text = try place.shell("COLUMNS=60 \"$PUSHCRYPT\" keys list Keys --at \(Workplace.now)").text
        #expect(text.hasPrefix("KEYSET    PRIMARY      NEXT STEP\nKeys/app  "))
    }

    @Test("demo keysets are shown as published, without rotation steps")
    func demo() throws {
        let place = try Workplace()
        try place.copyDemoKeys()
        let rows = try place.keystoreRows("Keys/demo")
        #expect(rows.map { $0["protection"] as? String } == Array(repeating: "published demo", count: 3))
        #expect(rows.allSatisfy { $0["next"] is NSNull && ($0["due"] as? [Any])?.isEmpty == true })
    }

    @Test("a folder without a keyset exits 66")
    func empty() throws {
        let place = try Workplace()
        try place.makeFolder("Keys/.new-unfinished")
        try place.write(Data("{}".utf8), to: "Keys/.new-unfinished/keyset.json")
        try place.makeFolder("Keys/other")
        expectRefusal(try place.run("keys", "list", "Keys"), 66, saying: "contains no keyset")
        expectRefusal(try place.run("keys", "list", "Keys", "--json"), 66)
    }

    /// `app` with a history, `ios`, and `web`, which is encrypted.
    private func makePlace() throws -> (Workplace, [String]) {
        let place = try Workplace()
        var kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        try place.setMode(0o700, of: "Keys")
        kids.append(try place.create("Keys/ios", "recipient"))
        kids.append(try place.createEncrypted("Keys/web", .sender))
        return (place, kids)
    }
}

extension Workplace {
    func keystoreRows(_ path: String) throws -> [[String: Any]] {
        let output = try run("keys", "list", path, "--json", "--at", Self.now)
        return try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
    }
}
