import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@Suite("Lookups of recipients") struct LookupTests {
    @Test func `a lookup finds the key of each kind of record`() throws {
        let devices = try Device.ofEveryKind()
        let directory = try Place(devices.map(\.line)).imported()
        let reader = try directory.makeReader()
        for device in devices {
            let found = try reader.recipient(kid: device.kid, device: device.id)
            #expect(try device.opens(found), "\(device.line)")
            #expect(try !Device.make().opens(found))
        }
    }

    @Test func `a lookup with another kid or device than the record's finds nothing`() throws {
        let phone = try Device.make(.shared).of("phone-1")
        let directory = try Place([phone.line]).imported()
        let reader = try directory.makeReader()
        #expect(try reader.recipient(kid: Device.make().kid) == nil)
        #expect(try reader.recipient(kid: phone.kid) == nil)
        #expect(try reader.recipient(kid: phone.kid, device: DeviceID("phone-2")) == nil)
    }

    @Test func `a lookup of a master returns each device's own key`() throws {
        let master = try Device.make(.shared)
        let directory = try Place([master.line]).imported()
        let reader = try directory.makeReader()
        let found = try reader.recipient(kid: master.kid, device: DeviceID("phone-1"))
        #expect(try master.of("phone-1").opens(found))
        #expect(try !master.of("phone-2").opens(found))
        #expect(try !master.opens(found))
        #expect(try master.opens(reader.recipient(kid: master.kid)))
    }

    @Test func `a lookup prefers a device's own record to its master's`() throws {
        let (master, phone) = try (Device.make(.shared), Device.make(.shared).of("phone-1"))
        let own = phone.changing("kid", to: "\(master.kid)")
        let directory = try Place([master.line, own]).imported()
        let found = try directory.makeReader().recipient(kid: master.kid, device: DeviceID("phone-1"))
        #expect(try !master.of("phone-1").opens(found))
    }

    @Test func `a lookup of a public key with a device returns the same key and that device`() throws {
        let device = try Device.make(psk: true)
        let directory = try Place([device.line]).imported()
        let reader = try directory.makeReader()
        for name in [try DeviceID("any"), nil] {
            let found = try reader.recipient(kid: device.kid, device: name)
            #expect(try device.opens(found) && found?.device == name)
        }
    }

    @Test func `lines with any line ending and spacing are read`() throws {
        let devices = try (0..<4).map { _ in try Device.make(psk: true) }
        let place = try Place(["\u{FEFF}" + devices[0].line + "\r", "  " + devices[1].line + "\t "])
        try place.append(devices[2].line.replacing(",", with: " , ") + "\n" + devices[3].line + "\r\n \r\n\n")
        let reader = try place.imported().makeReader()
        for device in devices { #expect(try device.opens(reader.recipient(kid: device.kid))) }
    }

    @Test func `an empty file is imported as a directory without recipients`() throws {
        #expect(try Place([]).imported().makeReader().recipient(kid: Device.make().kid) == nil)
    }

    @Test func `many readers can look up recipients at once`() async throws {
        let devices = try (0..<40).map { _ in try Device.make() }
        let directory = try Place(devices.map(\.line)).imported()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for offset in 0..<8 {
                group.addTask {
                    let reader = try directory.makeReader()
                    return try (0..<400).count { number in
                        let device = devices[(number + offset) % devices.count]
                        return try reader.recipient(kid: device.kid)?.kid == device.kid
                    }
                }
            }
            for try await count in group { #expect(count == 400) }
        }
    }
}

@Suite("DirectoryCheck") struct DirectoryCheckTests {
    @Test func `a check counts the recipients of each suite`() throws {
        let devices = try Device.ofEveryKind()
        let opened = try Place(devices.map(\.line) + [devices[0].line]).imported()
        let check = try DirectoryCheck(opened.directory)
        #expect(check.isClean && check.problems.isEmpty)
        #expect(check.recipientCounts == [.p256: 2, .x25519: 2, .shared: 2])
    }

    @Test func `a check reports progress without a total`() throws {
        let opened = try Place(Device.ofOneMaster(2_100).map(\.line)).imported()
        var seen: [DirectoryProgress] = []
        let check = try DirectoryCheck(opened.directory) { seen.append($0) }
        #expect(check.recipientCounts == [.shared: 2_100])
        #expect(seen.map(\.done) == [1_024, 2_048])
        #expect(seen.allSatisfy { $0.phase == .visiting && $0.total == nil })
    }

    @Test func `a check reports bad records and ids with several records, and counts each once`() throws {
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
