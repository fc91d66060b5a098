import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Processes that change one keyset, and one that watches it, in every order of their locks and system calls. One of them may
/// be killed at each step.
@Suite("A keyset's files in every order", .enabled(if: KeysetWalk.isPossible, "only Linux can replace system calls"))
struct KeysetWalkTests {
    /// With the orders of a long run and the number of preemptions in a normal one.
    private static let walks: [(KeysetWalk, long: Interleavings.Extent, short: Int)] = [
        (.init(writers: ["rotate", "revoke"]), .all, 1),
        (.init(writers: ["rotate", "rotate"]), .all, 0),
        (.init(writers: ["add", "revoke"], isKilled: true), .all, 0),
        (.init(writers: ["rotate", "rotate"], isKilled: true), .all, 1),
        (.init(writers: ["add"], checkCount: 2), .all, 1),
        (.init(writers: ["rotate", "add"], checkCount: 2, isKilled: true), .preemptions(1), 0),
        (.init(writers: ["create", "create"]), .preemptions(2), 0),
        (.init(writers: ["create", "create"], isKilled: true), .preemptions(2), 0),
    ]

    @Test(
        "the file is always one whole version that goes on from the last, and history and watcher never go back",
        arguments: walks)
    func keyset(_ walk: KeysetWalk, long: Interleavings.Extent, short: Int) throws {
        let extent = LongTests.value(long, short: .preemptions(short))
        let processes = SteppedProcesses()
        let before = try KeysetFiles(.shared)
        let count = try Interleavings(extent).walk { try walk.run($0, processes, before) }
        print("keyset, \(walk.testDescription): \(count); \(extent)")
    }

    @Test("two changes that write the file without the lock are found writing the same line twice")
    func brokenChange() throws {
        let processes = SteppedProcesses()
        let before = try KeysetFiles(.shared)
        let walk = KeysetWalk(writers: ["add-unlocked", "add-unlocked"])
        let violation = try #require(try Interleavings.simplestViolation { try walk.run($0, processes, before) })
        #expect("\(violation.cause)".contains("line 2 is followed by another line 2"), "\(violation)")
        #expect(violation.steps.filter { $0.label == "rename-to push.keyset" }.count == 2, "\(violation)")
    }
}

/// Processes that change and watch one keyset at the same time.
struct KeysetWalk: Sendable, CustomTestStringConvertible {
    /// A job of the test program: `add`, `revoke`, `rotate`, `create`.
    let writers: [String]
    /// How often the watcher checks the file; 0 for no watcher.
    var checkCount = 0
    /// Whether the first writer is killed at each step.
    var isKilled = false

    #if os(Linux)
    static let isPossible = true
    #else
    static let isPossible = false
    #endif

    /// A folder in memory if the system has one, because each change waits for the disk several times.
    private static let parent =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? URL(fileURLWithPath: "/dev/shm", isDirectory: true) : FileManager.default.temporaryDirectory

    /// A rotation is due.
    private static let time = KeysetFiles.start + 84 * 86_400

    var testDescription: String {
        writers.joined(separator: ", ") + (checkCount > 0 ? ", watch" : "") + (isKilled ? ", the first one killed" : "")
    }

    private var isCreation: Bool { writers.contains("create") }

    func run(_ run: Interleavings.Run, _ processes: SteppedProcesses, _ before: KeysetFiles) throws {
        let folder = try TemporaryFolder(in: Self.parent)
        let path = folder.path + "/Keys/push"
        try Folder.makeIfMissing(folder.path + "/Keys")
        if !isCreation { try before.write(to: path + KeysetLocation.suffix) }
        var jobs = writers.enumerated().map { index, job in
            SteppedProcesses.Job(
                "\(index + 1) \(job)", "\(job) \(path) \(Self.time.seconds)", mayBeKilled: isKilled && index == 0)
        }
        if checkCount > 0 { jobs.append(.init("watcher", "watch \(path) \(Self.time.seconds) \(checkCount)")) }
        var versions = KeysetVersions(path, Self.time)
        try versions.read()
        let start = versions.last
        let endings = try processes.run(jobs, run) { _ in try versions.read() }
        try check(endings, versions, changeCount: versions.last - start)
        try checkNextChange(path, &versions, folder)
    }

    private func check(
        _ endings: [String: SteppedProcesses.Ending], _ versions: KeysetVersions, changeCount: Int64
    ) throws {
        var made: Int64 = 0
        for (name, ending) in endings {
            guard case .done(let result) = ending else { continue }
            if name == "watcher" {
                let seen = result.split(separator: " ").compactMap { Int64($0) }
                try BrokenInvariant.require(
                    seen.count == checkCount + 1 && seen == seen.sorted() && seen.allSatisfy(versions.all.contains),
                    "the watcher took \(result) of \(versions.all)")
            } else if result.hasPrefix("error:") {
                try BrokenInvariant.require(isCreation && result.contains("exists"), "\(name): \(result)")
            } else {
                made += result.isEmpty ? 0 : 1
                let kids = result.split(separator: " ").map(String.init)
                try BrokenInvariant.require(
                    versions.kids.isSuperset(of: kids), "\(name) made \(kids), and they are gone")
            }
        }
        let killed = endings.values.contains(.killed)
        try BrokenInvariant.require(
            made == changeCount || killed && made + 1 == changeCount,
            "\(made) changes were reported and \(changeCount) made: \(endings)")
        try BrokenInvariant.require(
            killed || expectedChanges.contains(changeCount), "\(changeCount) changes were made: \(endings)")
    }

    /// A rotation may have nothing to do: another one, or a key that was added or succeeded a revoked one, suffices.
    private var expectedChanges: ClosedRange<Int64> {
        guard !isCreation, Set(writers) != ["rotate"] else { return 1...1 }
        return Int64(writers.count { $0 != "rotate" })...Int64(writers.count)
    }

    /// The next change removes what a killed one left, and the history has all lines then.
    private func checkNextChange(_ path: String, _ versions: inout KeysetVersions, _ folder: TemporaryFolder) throws {
        let storage = FileStorage(histories: versions.histories, servedFolder: nil) { _, _ in nil }
        let host = KeystoreHost(storage, name: "stepped", who: "next", clock: Self.time)
        if versions.all.isEmpty {
            _ = try host.create(path, .shared)
        } else {
            try host.change(path, .rotated) { try $0.add(activatesAt: nil) }
        }
        try versions.read()
        try BrokenInvariant.require(versions.seen == versions.last, "the history has line \(versions.seen ?? 0)")
        let names = (try folder.names(in: "Keys"), try folder.names(in: "seen").count)
        try BrokenInvariant.require(names == (["push.keyset"], 2), "\(names) are left")
    }
}

/// The versions of a keyset that were on disk.
struct KeysetVersions {
    private let path: String
    private let time: UnixTime
    private var text: [UInt8] = []
    private var log: KeysetLog?
    /// The numbers of the last lines.
    private(set) var all: [Int64] = []
    /// The last line of the history.
    private(set) var seen: Int64?

    init(_ path: String, _ time: UnixTime) { (self.path, self.time) = (path + KeysetLocation.suffix, time) }

    var last: Int64 { all.last ?? 0 }
    var kids: Set<String> { Set(log?.state.keys.map(\.kid.description) ?? []) }
    var histories: HistoryFolder { HistoryFolder(FileSystem.parent(of: FileSystem.parent(of: path)) + "/seen") }

    /// Reads the file, and requires that it is the last version or the next one, and that the history isn't ahead.
    mutating func read() throws {
        try readFile()
        guard let log, let history = try histories.history(of: log.state.id)?.log else { return }
        let number = history.state.head.number
        try BrokenInvariant.require(
            log.extends(history) && number >= seen ?? 0,
            "the history went from line \(seen ?? 0) to \(number) of \(last)")
        seen = number
    }

    private mutating func readFile() throws {
        guard let text = try? FileSystem.readFile(path), text != self.text else {
            return try BrokenInvariant.require(all.isEmpty || FileSystem.exists(path), "the keyset is gone")
        }
        self.text = text
        let next: KeysetLog
        do {
            let rows = try KeysetRows(text)
            _ = try rows.unlocked(nil)
            next = rows.log
        } catch {
            throw BrokenInvariant(description: "the keyset isn't whole after line \(last): \(error)")
        }
        let number = next.state.head.number
        try BrokenInvariant.require(
            log.map { next.extends($0) && number == last + 1 } ?? true,
            "line \(last) is followed by another line \(number)")
        let timeline = next.state.timeline
        let primaries = timeline.keys.filter { timeline.state(of: $0.kid, at: time) == .primary }
        try BrokenInvariant.require(primaries.count == 1, "line \(number) has \(primaries.count) primary keys")
        all.append(number)
        log = next
    }
}
