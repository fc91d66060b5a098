import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptRecipients

@Suite("the index of JSON lines")
struct IndexTests {
    @Test("is its owner's alone, holds nothing of a key, and leaves nothing beside it")
    func contents() throws {
        let devices = try Device.ofEverySort()
        let place = try Place(devices.map(\.line))
        _ = try place.open()
        #expect(try place.folder.names() == ["devices.jsonl", "devices.jsonl.index"])
        #expect(try place.folder.mode(of: "devices.jsonl.index") == 0o600)
        let bytes = try Data(contentsOf: place.folder.file("devices.jsonl.index"))
        for line in devices.map(\.line) {
            for secret in line.matches(of: /"(?:x|y|k|psk)":"([^"]{43})"/).map(\.1) {
                #expect(bytes.firstRange(of: Data(secret.utf8)) == nil)
                let padded = String(secret).replacing("-", with: "+").replacing("_", with: "/") + "="
                #expect(bytes.firstRange(of: try #require(Data(base64Encoded: padded))) == nil)
            }
        }
    }

    @Test("is made once")
    func reuse() throws {
        let place = try Place([Device.make().line])
        let first = try place.open()
        let inode = place.indexInode
        #expect(try place.open().index == first.index)
        #expect(inode != nil && place.indexInode == inode)
    }

    /// What an index doesn't survive: it is made anew, and says the same.
    @Test("that is lost, damaged or another's is made anew", arguments: IndexDamage.allCases)
    func damaged(_ damage: IndexDamage) throws {
        let device = try Device.make()
        let place = try Place([device.line, "?"])
        let report = try place.open().index
        try damage.apply(to: place)
        let directory = try place.open()
        #expect(directory.index == report)
        #expect(try device.opens(directory.makeReader().recipient(kid: device.kid)))
        let names = ["devices.jsonl", "devices.jsonl.index"] + (damage == .link ? ["elsewhere"] : [])
        #expect(try place.folder.names() == names)
        #expect(try place.folder.mode(of: "devices.jsonl.index") == 0o600)
    }

    @Test("that somebody was killed over goes")
    func leftover() throws {
        let place = try Place([Device.make().line])
        for name in ["devices.jsonl.index.new", "devices.jsonl.index.new-journal"] {
            try Data("half".utf8).write(to: place.folder.file(name))
        }
        _ = try place.open()
        #expect(try place.folder.names() == ["devices.jsonl", "devices.jsonl.index"])
    }

    @Test("is in a private place where the folder can't be written, and goes with the directory")
    func privatePlace() throws {
        let device = try Device.make()
        let place = try Place([device.line])
        try place.obstructIndex()
        var directory: RecipientDirectory? = try place.open().directory
        let path = try #require(directory?.indexPath)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        #expect(folder.path != place.folder.path)
        #expect(try FileManager.default.attributesOfItem(atPath: folder.path)[.posixPermissions] as? Int == 0o700)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try device.opens(directory?.makeReader().recipient(kid: device.kid)))
        directory = nil
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("of several who begin at once is one, and whole")
    func concurrent() async throws {
        let devices = try (0..<20).map { _ in try Device.make() }
        let place = try Place(devices.map(\.line))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for device in devices.prefix(8) {
                group.addTask { try device.opens(place.reader().recipient(kid: device.kid)) }
            }
            for try await isFound in group { #expect(isFound) }
        }
        #expect(try place.folder.names() == ["devices.jsonl", "devices.jsonl.index"])
        #expect(try place.open().index?.recipientCount == 20)
    }

    @Test("tells how far it is: never back, to the end")
    func progress() throws {
        let place = try Place(Device.ofOneMaster(12_000).map(\.line))
        nonisolated(unsafe) var seen: [DirectoryProgress] = []
        _ = try RecipientDirectory(path: place.path) { progress in unsafe seen.append(progress) }
        let reading = unsafe seen.filter { $0.phase == .reading }
        #expect(reading.map(\.done) == reading.map(\.done).sorted())
        #expect(!reading.isEmpty && reading.allSatisfy { $0.done <= $0.total ?? 0 })
    }
}

enum IndexDamage: String, CaseIterable, CustomTestStringConvertible {
    case missing, empty, cut, garbage, zeroes, flippedHeader, otherVersion, unfinished, readableByOthers, link

    var testDescription: String { rawValue }

    func apply(to place: Place) throws {
        let file = place.folder.file(place.name + ".index")
        var bytes = try Data(contentsOf: file)
        switch self {
        case .missing: return try FileManager.default.removeItem(at: file)
        case .empty: bytes = Data()
        case .cut: bytes = bytes.prefix(bytes.count / 2)
        case .garbage: bytes = Data("not a database, nor anything else\n".utf8)
        case .zeroes: bytes = Data(count: bytes.count)
        case .flippedHeader: bytes[3] ^= 1
        case .otherVersion: return try place.changeIndex("PRAGMA user_version = 2")
        case .unfinished: return try place.changeIndex("DELETE FROM source")
        case .readableByOthers: return try place.folder.setMode(0o644, of: place.name + ".index")
        case .link:
            let other = place.folder.file("elsewhere")
            try FileManager.default.moveItem(at: file, to: other)
            return try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        }
        try bytes.write(to: file)
        try place.folder.setMode(0o600, of: place.name + ".index")
    }
}
