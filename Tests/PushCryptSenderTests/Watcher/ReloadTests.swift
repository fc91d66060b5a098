import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A new file is in use without a restart, however it came and however that shows.
@Suite("KeysetWatcher takes a new keyset") struct ReloadTests {
    @Test(arguments: ["recipient", "shared", "sender"])
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

    @Test func saysSoOnce() throws {
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

    /// By inotify or kqueue alone: nothing else tells this watcher to look.
    @Test(arguments: Replacement.all)
    func byEvents(replacement: Replacement) throws {
        let place = try Operator()
        let watch = try Watch(place, .events)
        try replacement.perform(place)
        try watch.looks.wait(for: .taken(sequence: 2))
        #expect(try place.open(watch.seal()) == Watch.payload)
        #expect(watch.errors.isEmpty)
        // And the folder that lies there now is watched as the first one was.
        try place.rotate()
        try watch.looks.wait(for: .taken(sequence: 3))
    }

    @Test(arguments: Replacement.all)
    func byPolling(replacement: Replacement) throws {
        let place = try Operator()
        let watch = try Watch(place, .polling)
        try replacement.perform(place)
        try watch.looks.wait(for: .taken(sequence: 2))
        try place.rotate()
        try watch.looks.wait(for: .taken(sequence: 3))
    }

    /// As Kubernetes mounts a secret: the file is a link through a link that is exchanged.
    @Test(arguments: [WatchLoop.Triggers.events, .polling])
    func mountedFile(triggers: WatchLoop.Triggers) throws {
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
        let watch = try Watch(KeysetPlace(file: mount.path + "/keyset.json"), nil, triggers)
        #expect(watch.watcher.current.sequence == 1)
        try manager.createSymbolicLink(atPath: mount.path + "/..data_tmp", withDestinationPath: "..2")
        try Replacement.rename(mount.path + "/..data_tmp", to: mount.path + "/..data")
        try watch.looks.wait(for: .taken(sequence: 2))
    }

    #if !canImport(Darwin)
    /// kqueue doesn't tell of it; polling does.
    @Test func mendedModeByEvents() throws {
        let place = try Operator()
        let watch = try Watch(place, .events)
        let rotated = try FileSystem.readFile(place.rotatedCopy() + "/keyset.json")
        try FileSystem.replace(place.filePath, with: rotated, mode: 0o640)
        try place.folder.setMode(0o600, of: "Keys/push/keyset.json")
        try watch.looks.wait(for: .taken(sequence: 2))
    }
    #endif

    @Test func theSameTextAgainIsNothingNew() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.write(place.text())
        #expect(watch.look() == .unchanged)
        // Another text of the same keyset.
        try place.write(place.text() + Array("\n".utf8))
        #expect(watch.look() == .unchanged)
        #expect(watch.notices.isEmpty)
    }

    @Test func encrypted() throws {
        let place = try Operator(.sender, under: .cheap, .test("right"))
        let watch = try Watch(place)
        let kid = try place.rotate()
        #expect(watch.look() == .taken(sequence: 2))
        #expect(try watch.watcher.senderKey().kid == kid)
    }
}
