import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

@Suite("a directory that changes")
struct ChangedFileTests {
    /// Without and with a newline at the end of what was there; the latter may have become another line.
    @Test("appended lines are found, also without a newline before", arguments: [false, true])
    func appended(_ isOpen: Bool) throws {
        let devices = try (0..<4).map { _ in try Device.make(psk: true) }
        let place = try Place([devices[0].line, "?"])
        try place.append(devices[1].line + (isOpen ? "" : "\n"))
        _ = try place.open()
        try place.append((isOpen ? "\n" : "") + devices[2].line + "\n!\n" + devices[0].line + "\n" + devices[3].line)
        let directory = try place.open()
        let reader = try directory.makeReader()
        for device in devices { #expect(try device.opens(reader.recipient(kid: device.kid))) }
        #expect(directory.index == (try Self.anew(place)))
        #expect(directory.index?.skippedLines.map(\.number) == [2, 5] && directory.index?.duplicateCount == 1)
    }

    /// An uploader writes in blocks: at any moment the last line may be half there.
    @Test("a line that was half there is found when it is whole", arguments: [1, 40, 90])
    func half(_ count: Int) throws {
        let devices = try (0..<2).map { _ in try Device.make(psk: true) }
        let place = try Place([devices[0].line])
        try place.append(String(devices[1].line.prefix(count)))
        let before = try place.open()
        #expect(before.index?.skippedLines.map(\.number) == [2] && before.index?.lineCount == 2)
        try place.append(devices[1].line.dropFirst(count) + "\n")
        let after = try place.open()
        #expect(after.index?.skippedCount == 0 && after.index?.lineCount == 2)
        #expect(try devices[1].opens(after.makeReader().recipient(kid: devices[1].kid)))
        #expect(after.index == (try Self.anew(place)))
    }

    @Test("an appended rival makes a collision, and an impostor doesn't", arguments: [false, true])
    func appendedRival(_ isImpostor: Bool) throws {
        let phone = try Device.make(.shared).of("phone")
        let device = isImpostor ? try Device.make() : phone
        let place = try Place([device.line])
        _ = try place.open()
        let other = isImpostor ? try Device.make() : try Device.make(.shared).of("phone")
        try place.append(other.changing("kid", to: "\(device.kid)") + "\n")
        let reader = try place.reader()
        if isImpostor {
            #expect(try device.opens(reader.recipient(kid: device.kid)))
        } else {
            let error = #expect(throws: RecipientDirectoryError.self) {
                try reader.recipient(kid: device.kid, device: device.id)
            }
            #expect(error?.code == .collision)
        }
    }

    @Test("another file under the name is noticed, whatever its size and time", arguments: [false, true])
    func replaced(_ keepsTime: Bool) throws {
        let (old, new) = try (Device.make(), Device.make())
        let place = try Place([old.line])
        let opened = try place.open()
        let time = try FileManager.default.attributesOfItem(atPath: place.path)[.modificationDate]
        try place.replace([new.line])
        if keepsTime, let time {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: place.path)
        }
        let error = #expect(throws: RecipientDirectoryError.self) { try opened.makeReader() }
        #expect(error?.code == .changedMeanwhile)
        let reader = try place.reader()
        #expect(try reader.recipient(kid: old.kid) == nil)
        #expect(try new.opens(reader.recipient(kid: new.kid)))
    }

    @Test("other content in the same file is noticed", arguments: [false, true])
    func rewritten(_ keepsTime: Bool) throws {
        let (old, new) = try (Device.make(), Device.make())
        let place = try Place([old.line])
        _ = try place.open()
        let time = try FileManager.default.attributesOfItem(atPath: place.path)[.modificationDate]
        try place.write([new.line])
        if keepsTime, let time {
            try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: place.path)
        }
        let reader = try place.reader()
        #expect(try reader.recipient(kid: old.kid) == nil)
        #expect(try new.opens(reader.recipient(kid: new.kid)))
    }

    /// In the middle of many lines, where no probe looks, and longer than before.
    @Test("what was there was changed, and something appended")
    func rewrittenAndAppended() throws {
        let master = try Device.make(.shared)
        var lines = try (0..<2_000).map { try master.of("phone-\($0)").line }
        let place = try Place(lines)
        _ = try place.open()
        lines[777] = try master.of("phone-x").line.padded(to: lines[777].utf8.count)
        let last = try Device.make()
        try place.write(lines + [last.line])
        let reader = try place.reader()
        #expect(try last.opens(reader.recipient(kid: last.kid)))
        #expect(try master.of("phone-x").opens(reader.recipient(kid: master.kid, device: DeviceID("phone-x"))))
        #expect(try reader.recipient(kid: master.kid, device: DeviceID("phone-777")) == nil)
    }

    @Test("a shorter file is noticed")
    func cut() throws {
        let devices = try (0..<3).map { _ in try Device.make() }
        let place = try Place(devices.map(\.line))
        _ = try place.open()
        try place.write(devices.prefix(1).map(\.line))
        let directory = try place.open()
        #expect(directory.index?.recipientCount == 1)
        #expect(try directory.makeReader().recipient(kid: devices[2].kid) == nil)
    }

    @Test("a lookup in a file that was rewritten under it never gives another key", arguments: UnderIt.allCases)
    func rewrittenUnderIt(_ change: UnderIt) throws {
        let devices = try (0..<3).map { _ in try Device.make() }
        let place = try Place(devices.map(\.line))
        let reader = try place.reader()
        try place.write(Data(change.text(devices).utf8))
        let error = #expect(throws: RecipientDirectoryError.self) { try reader.recipient(kid: devices[1].kid) }
        #expect(error?.code == .changedMeanwhile && error?.lineNumber == 2)
        #expect(error?.reason.contains("line 2") == true)
    }

    /// What an index says that is made for the file as it is.
    @Test("an index with numbers that no file has is made again", arguments: 0..<6)
    func damagedNumbers(_ number: Int) throws {
        let devices = try (0..<2).map { _ in try Device.make(psk: true) }
        let place = try Place([devices[0].line])
        _ = try place.open()
        switch number {
        case 0: try place.changeIndex("UPDATE source SET lines = 9223372036854775807")
        case 1: try place.changeIndex("UPDATE source SET recipients = 9223372036854775807")
        case 2: try place.changeIndex("UPDATE source SET indexed = 9223372036854775807, size = 9223372036854775807")
        case 3: try place.changeIndex("UPDATE source SET indexed = -9223372036854775808, size = -1")
        case 4: try place.changeIndex("UPDATE source SET skipped = -9223372036854775808, tail = 1")
        default: try place.changeIndex("UPDATE source SET duplicates = 9223372036854775807, collisions = -1")
        }
        try place.append(devices[1].line + "\n" + devices[0].line + "\n?\n")
        let directory = try place.open()
        #expect(try devices[1].opens(directory.makeReader().recipient(kid: devices[1].kid)))
        #expect(directory.index == (try Self.anew(place)))
    }

    private static func anew(_ place: Place) throws -> IndexReport? {
        try FileManager.default.removeItem(atPath: place.path + ".index")
        return try place.open().index
    }
}

enum UnderIt: String, CaseIterable, CustomTestStringConvertible {
    case emptied, cut, swapped, shifted, overwritten

    var testDescription: String { rawValue }

    func text(_ devices: [Device]) -> String {
        let lines = devices.map { $0.line + "\n" }
        return switch self {
        case .emptied: ""
        case .cut: String(lines.joined().prefix(lines[0].count + 30))
        case .swapped: lines[1] + lines[0] + lines[2]
        case .shifted: " " + lines.joined()
        case .overwritten: String(repeating: "x", count: lines.joined().count)
        }
    }
}

extension String {
    /// JSON doesn't mind spaces at the end.
    fileprivate func padded(to count: Int) -> String { self + String(repeating: " ", count: count - utf8.count) }
}
