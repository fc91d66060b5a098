import Foundation
import PushCryptCore
import Testing

@Suite("keys log", .ownThreads)
struct KeysLogTests {
    private let encrypted: EncryptedPlace
    private let kid: String

    init() throws {
        encrypted = try EncryptedPlace()
        kid = try encrypted.create("Keys/push", .sender)
        let output = try encrypted.run("keys policy Keys/push --keep 3 --at \(Workplace.later(60))")
        try #require(output.exit == 0, "\(output)")
    }

    @Test("each line is shown with number, time, deed and account, and stderr says whether a secret authenticates it")
    func text() throws {
        let without = try encrypted.runWithoutSecret("keys log Keys/push")
        #expect(without.exit == 0 && without.stderr.contains("nothing authenticates this log: no secret"), "\(without)")
        let lines = without.text.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("  1  \(Workplace.now)  made; added key \(kid)"), "\(without)")
        #expect(lines[1].hasPrefix("  2  2026-03-01T09:01:00Z  changed the policy, by "), "\(without)")
        let with = try encrypted.run("keys log Keys/push")
        #expect(with.text == without.text && with.stderr.contains("the secret authenticates this log"), "\(with)")
    }

    @Test("--json is the rows of the file as an array")
    func json() throws {
        let output = try encrypted.runWithoutSecret("keys log Keys/push --json")
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [NSDictionary])
        let file = try encrypted.place.read("Keys/push.keyset").split(separator: UInt8(ascii: "\n")).dropLast()
        #expect(try rows == file.map { try #require(JSONSerialization.jsonObject(with: $0) as? NSDictionary) })
    }

    @Test("with the secret a changed log isn't shown, and a missing keyset exits 66")
    func refused() throws {
        try encrypted.place.edit("Keys/push.keyset") { $0.replacing("\"keep\":3", with: "\"keep\":9") }
        expectRefusal(try encrypted.run("keys log Keys/push"), 65, saying: "somebody without the secret changed it")
        expectRefusal(try encrypted.run("keys log Keys/none"), 66, saying: "Keys/none.keyset: there is no such keyset")
        try encrypted.place.write(Data("{}".utf8), to: "Keys/phone.json")
        expectRefusal(try encrypted.run("keys log Keys/phone.json"), 66, saying: "Keys/phone.json isn't a keyset")
    }
}
