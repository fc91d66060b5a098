import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A watcher loads a new file without a restart, for every way of replacing the old one.
@Suite("KeysetWatcher takes a new keyset") struct ReloadTests {
    @Test("checkNow loads a rotated keyset", arguments: ["recipient", "shared", "sender"])
    func whenAsked(kind: String) throws {
        let place = try Operator(try #require(KeyKind(rawValue: kind)))
        let watch = try Watch(place)
        let old = watch.watcher.current
        #expect(watch.check() == .unchanged)
        let kid = try place.rotate()
        #expect(watch.watcher.current.keyIDs == old.keyIDs)
        #expect(watch.check() == .taken(sequence: 2))
        #expect(watch.watcher.current.primary(at: place.clock.now)?.record.kid == kid)
        #expect(watch.check() == .unchanged)
        #expect(watch.errors.isEmpty)
    }

    @Test("a new keyset is logged once") func saysSoOnce() throws {
        let place = try Operator()
        let watch = try Watch(place)
        let old = try #require(watch.watcher.current.keyIDs.first)
        let new = try place.rotate()
        for _ in 0..<3 { _ = watch.check() }
        let line = [
            "keyset": place.path, "seq": "2", "previousSeq": "1", "primary": new.description,
            "previousPrimary": old.description,
        ]
        #expect(watch.notices == [line])
    }

    /// The timer fires once a second, so a change is detected within two seconds.
    @Test(
        "the timer's first check after a change detects it, for every way of replacing the file",
        arguments: Replacement.all)
    func byTimer(replacement: Replacement) throws {
        let place = try Operator()
        let watch = try Watch(place)
        #expect(watch.tick() == .unchanged)
        try replacement.perform(place)
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(try place.open(watch.seal()) == Watch.payload)
        #expect(watch.errors.isEmpty)
        #expect(watch.tick() == .unchanged)
        // The new folder is watched like the first one.
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 3))
    }

    @Test("the first check detects a change since the first keyset was read")
    func changeAtTheStart() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 2))
    }

    @Test("the real timer detects a change without a request")
    func realTimer() throws {
        let place = try Operator()
        let watch = try Watch(place, every: .milliseconds(10))
        try place.rotate()
        try watch.outcomes.wait(for: .taken(sequence: 2))
    }

    @Test("a replacement with the same size and write time is detected")
    func sameSizeAndTime() throws {
        let place = try Operator()
        let watch = try Watch(place)
        let old = try FileManager.default.attributesOfItem(atPath: place.filePath)
        let copy = try place.rotatedCopy() + "/keyset.json"
        var text = try FileSystem.readFile(copy)
        let size = try #require(old[.size] as? Int)
        // JSON allows spaces at its end. The old text is shorter: it is padded before the watcher's first check.
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

    /// The kubelet mounts a secret with these modes and names, exchanges the link `..data` by a rename, and removes the old
    /// folder.
    @Test("a changed secret of Kubernetes is taken, and its folder is refused with the advice to give the file's path")
    func mountedFile() throws {
        let place = try Operator()
        let mount = try TemporaryFolder()
        let manager = FileManager.default
        let rotated = try FileSystem.readFile(place.rotatedCopy() + "/keyset.json")
        try mount.setMode(0o1777, of: ".")
        let names = ["..2026_11_24_10_00_00.1", "..2026_11_24_11_00_00.2"]
        for (name, text) in zip(names, [try place.text(), rotated]) {
            try Folder.makeIfMissing(mount.path + "/" + name)
            try mount.setMode(0o755, of: name)
            try FileSystem.replace(mount.path + "/\(name)/keyset.json", with: text, mode: 0o400)
        }
        try manager.createSymbolicLink(atPath: mount.path + "/..data", withDestinationPath: names[0])
        try manager.createSymbolicLink(atPath: mount.path + "/keyset.json", withDestinationPath: "..data/keyset.json")
        let watch = try Watch(KeysetPlace(file: mount.path + "/keyset.json"))
        #expect(watch.watcher.current.sequence == 1)
        try manager.createSymbolicLink(atPath: mount.path + "/..data_tmp", withDestinationPath: names[1])
        try Replacement.rename(mount.path + "/..data_tmp", to: mount.path + "/..data")
        try manager.removeItem(atPath: mount.path + "/" + names[0])
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(watch.tick() == .unchanged)
        let error = #expect(throws: KeystoreError.self) { try KeysetWatcher(folder: mount.path) }
        #expect(error?.code == .notAKeyset)
        #expect(error?.reason.contains("KeysetWatcher(file:)") == true)
    }

    @Test("a mounted secret with Kubernetes' default mode is refused, and the error says what to set")
    func looseMount() throws {
        let place = try Operator()
        try place.folder.setMode(0o644, of: "Keys/push/keyset.json")
        let error = #expect(throws: KeystoreError.self) { try KeysetWatcher(file: place.filePath) }
        #expect(error?.code == .looseMode)
        #expect(error?.reason.contains("defaultMode: 0400") == true)
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
        #expect(watch.check() == .unchanged)
        // Another text of the same keyset.
        try place.write(place.text() + Array("\n".utf8))
        #expect(watch.check() == .unchanged)
        #expect(watch.notices.isEmpty)
    }

    @Test("a rotated encrypted keyset is taken with the same secret") func encrypted() throws {
        let place = try Operator(.sender, under: .cheap, .test("right"))
        let watch = try Watch(place)
        let kid = try place.rotate()
        #expect(watch.check() == .taken(sequence: 2))
        #expect(try watch.watcher.senderKey().kid == kid)
    }
}
