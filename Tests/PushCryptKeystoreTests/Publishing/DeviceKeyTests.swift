import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptLives

@Suite("The keys of devices in an outbox") struct DeviceKeyTests {
    private let place: PublishingPlace
    private let folder: TemporaryFolder
    private let files: TemporaryFolder

    init() throws {
        place = try PublishingPlace(.shared, epochs: [])
        folder = try TemporaryFolder()
        files = try TemporaryFolder()
    }

    private func publish(_ lines: String) throws -> [Int] {
        try Data(lines.utf8).write(to: files.file("list"))
        let list = files.file("list").path
        let result = try place.host().publishDevices(PublishingPlace.path, list: list, to: folder.path)
        return [result.written, result.unchanged, result.removed]
    }

    private func name(_ device: String) -> String { "\(place.id).\(device).json" }
    private func inode(_ device: String) -> FileStatus.Identity? {
        FileStatus(folder.file(name(device)).path)?.identity
    }

    private func keys(of device: String) throws -> Keyset {
        try Keyset(json: Data(contentsOf: folder.file(name(device))))
    }

    @Test func `Each device of the list has a private file with its own keys, and loses it with its line`() throws {
        #expect(try publish("phone-1\nphone-2\r\nphone-1\n\n") == [2, 0, 0])
        #expect(try folder.names() == [name("phone-1"), name("phone-2")].sorted())
        #expect(try folder.mode(of: name("phone-2")) == 0o600)
        let master = place.file.keyset.material.records[place.primary]!
        let device = try DeviceID("phone-1")
        let key = try keys(of: "phone-1").entries[0]
        #expect(try key.record.isSameKey(as: master.deviceRecord(device)))
        #expect(key.record.isDeviceKey)
        #expect(key.lifecycle.activatesAt != nil)
        #expect(try publish("phone-1\nphone-3") == [1, 1, 1])
        #expect(try folder.names() == [name("phone-1"), name("phone-3")].sorted())
        #expect(try publish("") == [0, 0, 2])
    }

    @Test func `A file is written again only if its keys, its content or its mode differ`() throws {
        _ = try publish("a\nb\nc")
        let before = ["a", "b", "c"].map(inode)
        try place.change(.policy) { $0.changes.policy = RotationPolicy.standard }
        #expect(try publish("a\nb\nc") == [0, 3, 0])
        #expect(["a", "b", "c"].map(inode) == before)
        try folder.setMode(0o644, of: name("a"))
        try Data("x".utf8).write(to: folder.file(name("b")))
        #expect(try publish("a\nb\nc") == [2, 1, 0])
        #expect(inode("c") == before[2])
        #expect(try folder.mode(of: name("a")) == 0o600)
        try place.host().rotate(PublishingPlace.path, beginsNow: true)
        #expect(try publish("a\nb\nc") == [3, 0, 0])
        #expect(try keys(of: "a").entries.count == 2)
        try place.host().revoke(PublishingPlace.path, place.primary)
        #expect(try publish("a\nb\nc") == [3, 0, 0])
        #expect(try !keys(of: "a").keyIDs.isEmpty)
        #expect(try keys(of: "a").entries.allSatisfy { $0.lifecycle.revokedAt == nil })
    }

    @Test func `Of lines that are no device ids the numbers are named, and no file is removed`() throws {
        _ = try publish("old")
        let list = files.file("list").path
        let long = String(repeating: "x", count: 200_000)
        #expect(throws: KeystoreRefusal.noDeviceIDs(list: list, lines: [2, 3, 5, 6])) {
            try publish("a\n../b\n\nc\nd e\n\(long)\n")
        }
        #expect(try folder.names() == ["a", "c", "old"].map(name).sorted())
    }

    @Test func `Only files of this keyset's devices, and what a crash left of them, are removed`() throws {
        let id = try KeysetID.random()
        let kept = ["notes.json", "\(id).a.json", name("a") + ".bak", "\(place.id).json", name("a.b")]
        let left = [name("b"), name("b") + ".new-0123456789ab"]
        for name in kept + left { try Data("x".utf8).write(to: folder.file(name)) }
        #expect(try publish("a") == [1, 0, 2])
        #expect(try folder.names() == (kept + [name("a")]).sorted())
    }

    @Test func `A link or an open folder as outbox, other kinds of keysets, and an old copy are refused`() throws {
        _ = try publish("a")
        let list = files.file("list").path
        let link = files.file("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        let host = place.host()
        func code(_ path: String) -> FileError.Code? {
            #expect(throws: FileError.self) { try host.publishDevices(PublishingPlace.path, list: list, to: path) }?
                .code
        }
        #expect(code(link.path) == .symbolicLink)
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: folder.path)
        #expect(code(folder.path) == .looseMode)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        let old = place.file
        try host.rotate(PublishingPlace.path, beginsNow: true)
        let seen = place.log.state.head
        place.file = old
        #expect(throws: KeystoreRefusal.olderThanHistory(id: place.id, seen: seen)) { try publish("a") }
        _ = try host.create("Keys/other", .recipient)
        #expect(throws: KeyError.self) { try host.publishDevices("Keys/other", list: list, to: folder.path) }
    }
}
