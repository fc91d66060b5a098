import Foundation
import PushCryptTestSupport
import Testing

@Suite("a copy of a keyset, and the served folder", .ownThreads)
struct KeysetCopyServedTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeFolder("www", mode: 0o755)
        try place.create("Keys/phone", "recipient")
        try place.succeed("keys", "publish", "Keys/phone", "--to", "www")
    }

    private func emergency(_ path: String) throws {
        let kid = try #require(try place.keys(path, at: Workplace.now).first?.kid)
        try place.succeed("rotate", path, "--emergency", "--revoke=\(kid)", "--yes")
    }

    private func advice(_ paths: String...) throws -> [String: [String]] {
        let output = try place.run(
            ["status"] + paths + ["--served", "www", "--json", "--at", Workplace.now, "--ignore", "plain-text"])
        let status = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [String: Any], "\(output)")
        let found = status["problems"] as? [[String: Any]] ?? []
        return found.filter { $0["severity"] as? String == "error" }.reduce(into: [:]) { result, finding in
            result[finding["keyset"] as? String ?? "", default: []].append(finding["advice"] as? String ?? "")
        }
    }

    @Test("a copy isn't published under a new name, and it is under the name of the keyset that it replaces")
    func newName() throws {
        _ = try place.shell("cp -a Keys/phone Keys/phone-copy")
        let before = try place.contents(of: "www")
        let refused = try place.run("keys", "publish", "Keys/phone-copy", "--to", "www", "--at", Workplace.now)
        expectRefusal(refused, 65, saying: "Keys/phone has the same keys, and the folder has its sets: one of the two")
        #expect(try place.contents(of: "www") == before)
        try emergency("Keys/phone-copy")
        try place.succeed("keys", "publish", "Keys/phone-copy", "--to", "www", "--as", "phone")
    }

    @Test(
        "a copy was published in the place of its keyset: the one with the served key is kept, and the other is moved away"
    )
    func published() throws {
        _ = try place.shell("cp -a Keys/phone Keys/phone.bak")
        try emergency("Keys/phone.bak")
        try place.succeed("keys", "publish", "Keys/phone.bak", "--to", "www", "--as", "phone")
        // A higher seq doesn't make the other one the keyset that is used.
        try place.succeed("keys", "policy", "Keys/phone", "--publish-seq", "9")
        let found = try advice("Keys")
        #expect(
            found["Keys/phone.bak"] == [
                "pushcrypt keys list Keys/phone.bak  # keep this one, which has keys in the served folder that no other has"
            ])
        #expect(
            found["Keys/phone"]?.first
                == "mv Keys/phone FOLDER && mv Keys/phone.bak Keys/phone  # the served folder has keys of Keys/phone.bak only; FOLDER is a new "
                + "name outside the keystore")
        #expect(found["Keys/phone"]?.count == 1, "\(found)")
    }

    @Test("a copy in another keystore of the command is found, and a revocation in it is asked for in the keyset")
    func otherKeystore() throws {
        _ = try place.shell("mkdir -m 700 Old; cp -a Keys/phone Old/phone")
        #expect(try advice("Keys").isEmpty)
        let found = try advice("Keys", "Old")
        #expect(found.count == 2, "\(found)")
        try emergency("Old/phone")
        let kid = try #require(try place.keys("Keys/phone", at: Workplace.now).first?.kid)
        for _ in 1...2 { try place.succeed("keys", "policy", "Keys/phone", "--publish-lead", "8d") }
        try place.succeed("keys", "policy", "Keys/phone", "--publish-seq", "9")
        let revoke =
            "pushcrypt keys revoke Keys/phone \(kid.hasPrefix("-") ? "-- " : "")\(kid)  # before you move a keyset away"
        let left = try advice("Keys", "Old")
        #expect(left["Keys/phone"]?.contains(revoke) == true, "\(left)")
    }

    @Test(
        "a copy of the same name in another keystore with a higher seq: nothing is published or moved before the revocation is in both"
    )
    func sameName() throws {
        _ = try place.shell("mkdir -m 700 Old; cp -a Keys/phone Old/phone")
        let kid = try #require(try place.keys("Keys/phone", at: Workplace.now).first?.kid)
        try emergency("Old/phone")
        let dash = kid.hasPrefix("-") ? "-- " : ""
        #expect(
            try advice("Keys", "Old") == [
                "Keys/phone": ["pushcrypt keys revoke Keys/phone \(dash)\(kid)  # before you move a keyset away"],
                "Old/phone": [
                    "move none of them away before you have revoked in Keys/phone what the others revoked, as advised there; then check again"
                ],
            ])
    }

    @Test("a keyset whose copy has a later epoch and more topics gets the commands for them before one is moved away")
    func publication() throws {
        try place.create("Keys/push", "sender")
        try place.succeed("keys", "policy", "Keys/push", "--publish-topic", "com.example.app")
        _ = try place.shell("cp -a Keys/push Keys/push-copy")
        try place.succeed(
            "keys", "policy", "Keys/push-copy", "--publish-epoch", "2", "--publish-topic", "com.example.app",
            "--publish-topic", "com.example.clip", "--yes")
        try place.succeed("keys", "policy", "Keys/push", "--publish-seq", "9")
        #expect(
            try advice("Keys")["Keys/push"]?.first
                == "pushcrypt keys policy Keys/push --publish-epoch 2 && pushcrypt keys policy Keys/push --publish-topic com.example.app "
                + "--publish-topic com.example.clip  # before you move a keyset away, if they are still right")
    }

    @Test(
        "a key that was revoked in both copies, and not in the served set, is reported before one of them is moved away"
    )
    func urgent() throws {
        _ = try place.shell("cp -a Keys/phone Keys/phone.bak")
        let kid = try #require(try place.keys("Keys/phone", at: Workplace.now).first?.kid)
        for path in ["Keys/phone", "Keys/phone.bak"] { try emergency(path) }
        let found = try advice("Keys")
        #expect(found["Keys/phone"]?.contains("pushcrypt keys publish Keys/phone --to www") == true, "\(found)")
        #expect(found["Keys/phone.bak"]?.count == 1, "\(found)")
        let output = try place.run("status", "Keys", "--served", "www", "--at", Workplace.now)
        #expect(output.text.contains("key \(kid) was revoked at"), "\(output)")
    }

    @Test("the other keystore's copy is moved away, and the keyset that is published stays in its place")
    func otherKeystoresCopy() throws {
        _ = try place.shell("mkdir -m 700 Old; cp -a Keys/phone Old/phone")
        try emergency("Keys/phone")
        try place.succeed("keys", "publish", "Keys/phone", "--to", "www")
        let found = try advice("Keys", "Old")
        #expect(
            found["Old/phone"] == [
                "mv Old/phone FOLDER  # the served folder has keys of Keys/phone only; FOLDER is a new name outside the keystore; if your "
                    + "programs use this path, then: mv Keys/phone Old/phone"
            ], "\(found)")
    }
}
