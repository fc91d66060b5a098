import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// JSON lines, or the database that they were imported into.
enum Format: String, CaseIterable, CustomTestStringConvertible {
    case lines, database

    var testDescription: String { rawValue }

    func directory(_ lines: [String]) throws -> OpenPlace {
        let place = try Place(lines)
        guard self == .database else { return try place.open() }
        let path = place.folder.file("devices.sqlite").path
        _ = try DirectoryImport(place.open().directory, into: path)
        return OpenPlace(place: place, directory: try RecipientDirectory(path: path))
    }
}

@Suite("looking recipients up")
struct LookupTests {
    @Test("finds every sort, whole", arguments: Format.allCases)
    func everySort(_ format: Format) throws {
        let devices = try Device.ofEverySort()
        let directory = try format.directory(devices.map(\.line))
        let reader = try directory.makeReader()
        for device in devices {
            let found = try reader.recipient(kid: device.kid, device: device.id)
            #expect(try device.opens(found), "\(device.line)")
            #expect(try !Device.make().opens(found))
        }
    }

    @Test("finds nothing else", arguments: Format.allCases)
    func nothingElse(_ format: Format) throws {
        let phone = try Device.make(.shared).of("phone-1")
        let directory = try format.directory([phone.line])
        let reader = try directory.makeReader()
        #expect(try reader.recipient(kid: Device.make().kid) == nil)
        #expect(try reader.recipient(kid: phone.kid) == nil)
        #expect(try reader.recipient(kid: phone.kid, device: DeviceID("phone-2")) == nil)
    }

    @Test("of a master gives each device its own key", arguments: Format.allCases)
    func derived(_ format: Format) throws {
        let master = try Device.make(.shared)
        let directory = try format.directory([master.line])
        let reader = try directory.makeReader()
        let found = try reader.recipient(kid: master.kid, device: DeviceID("phone-1"))
        #expect(try master.of("phone-1").opens(found))
        #expect(try !master.of("phone-2").opens(found))
        #expect(try !master.opens(found))
        #expect(try master.opens(reader.recipient(kid: master.kid)))
    }

    @Test("takes a device's own record before its master's", arguments: Format.allCases)
    func ownBeforeMaster(_ format: Format) throws {
        let (master, phone) = try (Device.make(.shared), Device.make(.shared).of("phone-1"))
        let own = phone.changing("kid", to: "\(master.kid)")
        let directory = try format.directory([master.line, own])
        let found = try directory.makeReader().recipient(kid: master.kid, device: DeviceID("phone-1"))
        #expect(try !master.of("phone-1").opens(found))
    }

    @Test("of a public key takes the device for its name", arguments: Format.allCases)
    func publicKeyWithDevice(_ format: Format) throws {
        let device = try Device.make(psk: true)
        let directory = try format.directory([device.line])
        let reader = try directory.makeReader()
        for name in [try DeviceID("any"), nil] {
            let found = try reader.recipient(kid: device.kid, device: name)
            #expect(try device.opens(found) && found?.device == name)
        }
    }

    @Test("reads lines however they end and are spaced")
    func spacing() throws {
        let devices = try (0..<4).map { _ in try Device.make(psk: true) }
        let place = try Place([devices[0].line + "\r", "  " + devices[1].line + "\t "])
        try place.append(devices[2].line.replacing(",", with: " , ") + "\n" + devices[3].line)
        let directory = try place.open()
        let reader = try directory.makeReader()
        for device in devices { #expect(try device.opens(reader.recipient(kid: device.kid))) }
        #expect(directory.index?.lineCount == 4 && directory.index?.skippedCount == 0)
    }

    @Test("an empty file has no recipients, and no errors")
    func empty() throws {
        let directory = try Place([]).open()
        #expect(try directory.makeReader().recipient(kid: Device.make().kid) == nil)
        #expect(directory.index?.lineCount == 0)
    }

    @Test("many readers at once")
    func concurrent() async throws {
        let devices = try (0..<40).map { _ in try Device.make() }
        let place = try Place(devices.map(\.line))
        let directory = try place.open()
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
