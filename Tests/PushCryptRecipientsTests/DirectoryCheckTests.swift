import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@Suite("DirectoryCheck")
struct DirectoryCheckTests {
    @Test("a check counts the recipients of each suite")
    func counts() throws {
        let devices = try Device.ofEveryKind()
        let opened = try Place(devices.map(\.line) + [devices[0].line]).imported()
        let check = try DirectoryCheck(opened.directory)
        #expect(check.isClean && check.problems.isEmpty)
        #expect(check.recipientCounts == [.p256: 2, .x25519: 2, .shared: 2])
    }

    @Test("a check reports progress without a total")
    func progress() throws {
        let opened = try Place(Device.ofOneMaster(2_100).map(\.line)).imported()
        var seen: [DirectoryProgress] = []
        let check = try DirectoryCheck(opened.directory) { seen.append($0) }
        #expect(check.recipientCounts == [.shared: 2_100])
        #expect(seen.map(\.done) == [1_024, 2_048])
        #expect(seen.allSatisfy { $0.phase == .visiting && $0.total == nil })
    }

    @Test("a check reports bad records and ids with several records, and counts each once")
    func problems() throws {
        let place = try Place("any.name")
        let database = try Database(path: place.path, creates: true, busyTimeout: .zero)
        try place.folder.setMode(0o600, of: place.name)
        try database.script(
            "CREATE TABLE recipients (kid TEXT, device TEXT, record TEXT); CREATE INDEX i ON recipients (kid, device)")
        let devices = try (0..<3).map { _ in try Device.make() }
        let privateKey = try Device.make(psk: true, exposesPrivate: true)
        for (device, count) in [(devices[0], 1), (devices[1], 3), (privateKey, 1)] {
            for _ in 0..<count { try insert(device.line, device.kid, database) }
        }
        try insert("?", devices[2].kid, database)
        let check = try DirectoryCheck(place.open().directory)
        #expect(!check.isClean)
        #expect(check.recipientCounts == [.x25519: 1])
        #expect(check.badCount == 2 && check.collisionCount == 1)
        #expect(check.problems.count == 3 && check.problems.count(where: \.isCollision) == 1)
        #expect(check.problems.contains { $0.reason.contains("several records of key \(devices[1].kid)") })
        for secret in privateKey.line.matches(of: /"(?:d|psk)":"([^"]+)"/).map(\.1) {
            #expect(check.problems.allSatisfy { !$0.reason.contains(secret) })
        }
    }

    private func insert(_ record: String, _ kid: KeyID, _ database: Database) throws {
        try database.run("INSERT INTO recipients VALUES (?, '', ?)", .text("\(kid)"), .text(record))
    }
}
