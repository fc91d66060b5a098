import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A watcher loads a new file without a restart, for every way of replacing the old one.
@Suite("KeysetWatcher takes a new keyset") struct ReloadTests {
    @Test("checkNow loads a rotated keyset and logs it once", arguments: [KeyKind.recipient, .shared, .sender])
    func whenAsked(kind: KeyKind) throws {
        let place = try Operator(kind)
        let watch = try Watch(place)
        let old = watch.watcher.current
        #expect(watch.check() == .unchanged)
        let kid = try place.rotate()
        #expect(watch.watcher.current.keyIDs == old.keyIDs)
        #expect(watch.check() == .taken(sequence: 2))
        #expect(watch.watcher.current.primary(at: place.clock.now)?.record.kid == kid)
        #expect(watch.check() == .unchanged)
        let line = [
            "keyset": place.path, "seq": "2", "previousSeq": "1", "primary": kid.description,
            "previousPrimary": old.keyIDs[0].description,
        ]
        #expect(watch.notices == [line] && watch.errors.isEmpty)
    }

    /// The timer fires once a second, so a change is detected within two seconds.
    @Test(
        "the timer's first check after a change detects it, for every way of replacing the file",
        arguments: Replacement.all)
    func byTimer(replacement: Replacement) throws {
        let place = try Operator()
        let watch = try Watch(place)
        #expect(watch.tick() == .unchanged)
        try replacement.perform(place, place.change { try $0.rotated() }.file)
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(try place.open(watch.seal()) == Watch.payload)
        #expect(watch.errors.isEmpty)
        #expect(watch.tick() == .unchanged)
        // The new file is watched like the first one.
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 3))
    }

    @Test("each file whose log goes on is taken: a publication, a restoration over other lines, a corrected clock")
    func everyLine() throws {
        let place = try Operator(.shared, .test("right"))
        let first = place.files
        let watch = try Watch(place)
        let lost = try place.change { try $0.rotated().appending(.published) { $0.issuedAt = Operator.start } }
        #expect(watch.tick() == .taken(sequence: 3))
        try place.change { _ in try first.rotated().appending(.restored, number: 9) { $0.over = lost.log.points } }
        #expect(watch.tick() == .taken(sequence: 9))
        try place.change { try $0.appending(.clockCorrected, after: -3_600) }
        #expect(watch.tick() == .taken(sequence: 10))
        #expect(watch.watcher.current.keyIDs == place.files.kids)
        #expect(watch.errors.isEmpty && watch.notices.count == 3)
    }

    @Test("a replacement with the same size and write time is detected")
    func sameSizeAndTime() throws {
        let manager = FileManager.default
        // Other values of the same lengths.
        let (place, other) = (try Operator(), try Operator())
        let watch = try Watch(place)
        let time = try #require(try manager.attributesOfItem(atPath: place.filePath)[.modificationDate] as? Date)
        try manager.setAttributes([.modificationDate: time], ofItemAtPath: other.filePath)
        #expect(try place.files.file.count == other.files.file.count)
        try Replacement.rename(other.filePath, to: place.filePath)
        #expect(watch.tick()?.reason?.contains("doesn't go on") == true)
    }

    /// The kubelet mounts a secret with these names, exchanges the link `..data` by a rename, and removes the old folder.
    @Test("a changed secret of Kubernetes is taken, and an old one is refused")
    func mountedFile() throws {
        let first = try KeysetFiles(.sender)
        let (second, mount, manager) = (try first.rotated(), try TemporaryFolder(), FileManager.default)
        func write(_ keyset: KeysetFiles, as name: String) throws {
            try Folder.makeIfMissing(mount.path + "/..\(name)")
            try mount.setMode(0o755, of: "..\(name)")
            try keyset.write(to: mount.path + "/..\(name)/push.keyset", mode: 0o400)
            try manager.createSymbolicLink(atPath: mount.path + "/..data_tmp", withDestinationPath: "..\(name)")
            try Replacement.rename(mount.path + "/..data_tmp", to: mount.path + "/..data")
        }
        try write(first, as: "1")
        try manager.createSymbolicLink(atPath: mount.path + "/push.keyset", withDestinationPath: "..data/push.keyset")
        let watch = try Watch(KeysetPlace(file: mount.path + "/push.keyset"))
        try write(second, as: "2")
        try manager.removeItem(atPath: mount.path + "/..1")
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(watch.tick() == .unchanged)
        try write(first, as: "3")
        #expect(watch.tick()?.reason?.contains("doesn't go on") == true)
        #expect(try watch.watcher.senderKey().kid == second.kids[1])
    }

    @Test("a mounted secret with Kubernetes' default mode is refused, and the error says what to set")
    func looseMount() throws {
        let place = try Operator()
        try place.folder.setMode(0o644, of: "push.keyset")
        let error = #expect(throws: KeystoreError.self) { try KeysetWatcher(file: place.path) }
        #expect(error?.code == .looseMode)
        #expect(error?.reason.contains("defaultMode: 0400") == true)
    }

    @Test("a new file with a loose mode is taken when its mode is corrected")
    func correctedMode() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.files.rotated().write(to: place.filePath, mode: 0o660)
        #expect(watch.tick()?.reason?.contains("chmod") == true)
        try place.folder.setMode(0o600, of: "push.keyset")
        #expect(watch.tick() == .taken(sequence: 2))
    }

    @Test("a touched file, one with another private mode, and the same keys encrypted again are no change")
    func noChange() throws {
        let place = try Operator(.sender, .test("right"))
        let watch = try Watch(place)
        let text = try place.files.file
        try place.write(place.files.file)
        #expect(try FileSystem.readFile(place.filePath) != text)
        #expect(watch.check() == .unchanged)
        try place.folder.setMode(0o400, of: "push.keyset")
        #expect(watch.check() == .unchanged)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: place.filePath)
        #expect(watch.check() == .unchanged)
        #expect(watch.errors.isEmpty && watch.notices.isEmpty)
    }
}

/// A JWK and a set have no log.
@Suite("KeysetWatcher takes a new JWK or set") struct SetReloadTests {
    private let folder = try! TemporaryFolder()
    private var path: String { folder.path + "/keys.json" }

    private func write(_ text: [UInt8]) throws { try FileSystem.replace(path, with: text) }

    @Test("another JWK or set without a seq is taken, because such files have no order, and not after a set with a seq")
    func unnumbered() throws {
        let keys = ["p256", "x25519"].map(TestKeys.publicJWK)
        try write(keys[0])
        let watch = try Watch(KeysetPlace(file: path))
        #expect(try watch.watcher.recipient().suite == .p256)
        try write(keys[1])
        #expect(watch.check() == .taken(sequence: 0))
        #expect(try watch.watcher.recipient().suite == .x25519)
        try write(Array(#"{"keys":["#.utf8) + keys[1] + Array("]}".utf8))
        #expect(watch.check() == .unchanged)
        try write(Array(#"{"keys":["#.utf8) + keys[0] + Array("]}".utf8))
        #expect(watch.check() == .taken(sequence: 0))
        try write(KeysetFiles(.recipient).keyset.publicKeyset(keepingPSK: false).jwkSet(withHistory: true))
        #expect(watch.check() == .taken(sequence: 1))
        try write(keys[0])
        #expect(watch.check()?.reason?.contains("went back from seq 1 to seq 0") == true)
    }

    @Test("a set with a lower seq, an earlier updatedAt, or other content with the same seq is refused")
    func numbered() throws {
        let rotated = try KeysetFiles(.recipient).rotated()
        let keyset = try rotated.keyset.publicKeyset(keepingPSK: false)
        try write(keyset.jwkSet(withHistory: true))
        let watch = try Watch(KeysetPlace(file: path), clock: TestClock(Operator.start + 9))
        var (older, earlier) = (keyset, keyset)
        older.sequence = 1
        (earlier.sequence, earlier.updatedAt) = (9, Operator.start)
        var other = try rotated.rotated().keyset.publicKeyset(keepingPSK: false)
        let next = other
        other.sequence = 2
        let cases = [(older, "seq 2 to seq 1"), (earlier, "went back from updatedAt"), (other, "the same seq 2")]
        for (set, reason) in cases {
            try write(set.jwkSet(withHistory: true))
            #expect(watch.check()?.reason?.contains(reason) == true, "\(watch.outcomes.all)")
        }
        try write(next.jwkSet(withHistory: true))
        #expect(watch.check() == .taken(sequence: 3))
    }
}

/// A way to replace a keyset with a rotated one.
struct Replacement: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// - Parameter text: the file of the rotated keyset.
    let perform: @Sendable (_ place: Operator, _ text: [UInt8]) throws -> Void

    static let all: [Replacement] = [renamedFile, removedFile, writtenInPlace]

    private static let renamedFile = Replacement(testDescription: "a file renamed onto the old one") { place, text in
        try place.write(text)
    }

    private static let removedFile = Replacement(testDescription: "a file removed and made again") { place, text in
        try FileManager.default.removeItem(atPath: place.filePath)
        try place.write(text)
    }

    private static let writtenInPlace = Replacement(testDescription: "a file overwritten in place") { place, text in
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: place.filePath))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: text)
        try file.close()
    }

    static func rename(_ path: String, to other: String) throws {
        try #require(unsafe Foundation.rename(path, other) == 0, "\(path) can't be renamed to \(other)")
    }
}
