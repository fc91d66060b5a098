import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A new file is in use without a restart, however it came and however that shows.
@Suite("KeysetWatcher takes a new keyset") struct ReloadTests {
    @Test("lookNow takes a rotated keyset", arguments: ["recipient", "shared", "sender"])
    func whenAsked(kind: String) throws {
        let place = try Operator(try #require(KeyKind(rawValue: kind)))
        let watch = try Watch(place)
        let old = watch.watcher.current
        #expect(watch.look() == .unchanged)
        let kid = try place.rotate()
        #expect(watch.watcher.current.keyIDs == old.keyIDs)
        #expect(watch.look() == .taken(sequence: 2))
        #expect(watch.watcher.current.primary(at: place.clock.now)?.record.kid == kid)
        #expect(watch.look() == .unchanged)
        #expect(watch.errors.isEmpty)
    }

    @Test("a new keyset is logged once") func saysSoOnce() throws {
        let place = try Operator()
        let watch = try Watch(place)
        let old = try #require(watch.watcher.current.keyIDs.first)
        let new = try place.rotate()
        for _ in 0..<3 { _ = watch.look() }
        let line = [
            "keyset": place.path, "seq": "2", "previousSeq": "1", "primary": new.description,
            "previousPrimary": old.description,
        ]
        #expect(watch.notices == [line])
    }

    /// The timer fires once a second, so this is seen within two, however long a look takes.
    @Test("the first look of the timer after a change sees it, whatever replaced the file", arguments: Replacement.all)
    func byTimer(replacement: Replacement) throws {
        let place = try Operator()
        let watch = try Watch(place)
        #expect(watch.tick() == .unchanged)
        try replacement.perform(place)
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(try place.open(watch.seal()) == Watch.payload)
        #expect(watch.errors.isEmpty)
        #expect(watch.tick() == .unchanged)
        // The folder that has the name now is watched as the first one was.
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 3))
    }

    @Test("a change between the reading of the first keyset and the first look is seen at that look")
    func changeAtTheStart() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 2))
    }

    @Test("a real timer looks without being asked")
    func realTimer() throws {
        let place = try Operator()
        let watch = try Watch(place, every: .milliseconds(10))
        try place.rotate()
        try watch.looks.wait(for: .taken(sequence: 2))
    }

    @Test("a file of the same size and write time in the place of the old one is seen")
    func sameSizeAndTime() throws {
        let place = try Operator()
        let watch = try Watch(place)
        let old = try FileManager.default.attributesOfItem(atPath: place.filePath)
        let copy = try place.rotatedCopy() + "/keyset.json"
        var text = try FileSystem.readFile(copy)
        let size = try #require(old[.size] as? Int)
        // JSON allows spaces at its end. The old text is shorter: it is padded before the watcher's first look.
        try place.write(place.text() + Array(repeating: UInt8(ascii: " "), count: max(text.count - size, 0)))
        #expect(watch.tick() == .unchanged)
        let time = try #require(
            try FileManager.default.attributesOfItem(atPath: place.filePath)[.modificationDate] as? Date)
        text += Array(repeating: UInt8(ascii: " "), count: max(size - text.count, 0))
        try FileSystem.replace(copy, with: text)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: copy)
        try Replacement.rename(copy, to: place.filePath)
        #expect(watch.tick() == .taken(sequence: 2))
    }

    @Test("a mounted secret of Kubernetes is seen: the file is a link through a link that is exchanged")
    func mountedFile() throws {
        let place = try Operator()
        let mount = try TemporaryFolder()
        let manager = FileManager.default
        let rotated = try FileSystem.readFile(place.rotatedCopy() + "/keyset.json")
        for (name, text) in [("..1", try place.text()), ("..2", rotated)] {
            try FileSystem.makeFolder(mount.path + "/" + name)
            try FileSystem.replace(mount.path + "/\(name)/keyset.json", with: text)
        }
        try manager.createSymbolicLink(atPath: mount.path + "/..data", withDestinationPath: "..1")
        try manager.createSymbolicLink(atPath: mount.path + "/keyset.json", withDestinationPath: "..data/keyset.json")
        let watch = try Watch(KeysetPlace(file: mount.path + "/keyset.json"))
        #expect(watch.watcher.current.sequence == 1)
        try manager.createSymbolicLink(atPath: mount.path + "/..data_tmp", withDestinationPath: "..2")
        try Replacement.rename(mount.path + "/..data_tmp", to: mount.path + "/..data")
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(watch.tick() == .unchanged)
    }

    @Test("a new file with a loose mode is taken when its mode is corrected")
    func correctedMode() throws {
        let place = try Operator()
        let watch = try Watch(place)
        let rotated = try FileSystem.readFile(place.rotatedCopy() + "/keyset.json")
        try FileSystem.replace(place.filePath, with: rotated, mode: 0o660)
        #expect(watch.tick()?.reason?.contains("chmod") == true)
        try place.folder.setMode(0o600, of: "Keys/push/keyset.json")
        #expect(watch.tick() == .taken(sequence: 2))
    }

    @Test("the same text written again is no change") func theSameTextAgainIsNothingNew() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.write(place.text())
        #expect(watch.look() == .unchanged)
        // Another text of the same keyset.
        try place.write(place.text() + Array("\n".utf8))
        #expect(watch.look() == .unchanged)
        #expect(watch.notices.isEmpty)
    }

    @Test("a rotated encrypted keyset is taken with the same secret") func encrypted() throws {
        let place = try Operator(.sender, under: .cheap, .test("right"))
        let watch = try Watch(place)
        let kid = try place.rotate()
        #expect(watch.look() == .taken(sequence: 2))
        #expect(try watch.watcher.senderKey().kid == kid)
    }
}
