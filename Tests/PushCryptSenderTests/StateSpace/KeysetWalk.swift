import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

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
    private static let time = Operator.start + 84 * 86_400

    var testDescription: String {
        writers.joined(separator: ", ") + (checkCount > 0 ? ", watch" : "") + (isKilled ? ", the first one killed" : "")
    }

    private var isCreation: Bool { writers.contains("create") }

    func run(_ run: Interleavings.Run, _ processes: SteppedProcesses, _ before: Operator) throws {
        let folder = try TemporaryFolder(in: Self.parent)
        let path = folder.path + "/push"
        if !isCreation { try FileManager.default.copyItem(atPath: before.path, toPath: path) }
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
        try checkNextChange(path, versions, folder)
    }

    private func check(
        _ endings: [String: SteppedProcesses.Ending], _ versions: KeysetVersions, changeCount: Int64
    ) throws {
        var made: Int64 = 0
        var refused = 0
        for (name, ending) in endings {
            guard case .done(let result) = ending else { continue }
            if name == "watcher" {
                let seen = result.split(separator: " ").compactMap { Int64($0) }
                try BrokenInvariant.require(
                    seen.count == checkCount + 1 && seen == seen.sorted() && seen.allSatisfy(versions.all.contains),
                    "the watcher took \(result) of \(versions.all)")
            } else if result.hasPrefix("error:") {
                refused += 1
                let isExpected = isCreation && (result.contains("exists") || result.contains("not empty"))
                try BrokenInvariant.require(isExpected, "\(name): \(result)")
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

    /// The next change finishes or discards what a killed one left.
    private func checkNextChange(_ path: String, _ versions: KeysetVersions, _ folder: TemporaryFolder) throws {
        let store = KeysetStore(path)
        let actor = Actor(name: "next", reason: nil)
        if versions.all.isEmpty {
            try store.create(
                KeyRecord.generate(.shared, backend: DefaultBackend.shared), .standard, .plaintext, nil, at: Self.time,
                by: actor)
        } else {
            let known = versions.kids
            let change = try store.change(at: Self.time, by: actor, .none) { try $0.add(activatesAt: nil) }
            try BrokenInvariant.require(
                change.metadata.sequence == versions.last + 1
                    && Set(change.metadata.timeline.keys.map(\.kid.description)).isSuperset(of: known),
                "the next change lost a key or used seq \(change.metadata.sequence) after \(versions.last)")
        }
        let checks = try store.verify(.none, at: Self.time).checks
        try BrokenInvariant.require(
            checks.allSatisfy { $0.outcome == .ok }, "\(checks.filter { $0.outcome != .ok }.map(\.message))")
        try BrokenInvariant.require(
            try folder.names(in: "push") == ["audit.jsonl", "keyset.json"], "\(try folder.names(in: "push"))")
        let others = try folder.names().filter { $0 != "push" }
        try BrokenInvariant.require(others.isEmpty || !versions.all.isEmpty, "\(others) is left")
    }
}

/// The versions of a keyset that were on disk.
struct KeysetVersions {
    private let path: String
    private let time: UnixTime
    private var text: [UInt8] = []
    private(set) var all: [Int64] = []
    private(set) var kids: Set<String> = []

    init(_ path: String, _ time: UnixTime) { (self.path, self.time) = (path, time) }

    var last: Int64 { all.last ?? 0 }

    /// Reads the file, and requires that it is the last version or the one after it.
    mutating func read() throws {
        guard let text = try? FileSystem.readFile(path + "/" + KeysetFolder.keysetName), text != self.text else {
            return try BrokenInvariant.require(
                all.isEmpty || FileSystem.exists(path + "/" + KeysetFolder.keysetName), "keyset.json is gone")
        }
        self.text = text
        let timeline: KeyTimeline
        let sequence: Int64
        do {
            let file = try KeysetFile(text, path: path)
            (timeline, sequence) = (file.metadata.timeline, file.metadata.sequence)
            _ = try file.unlocked(.none)
        } catch {
            throw BrokenInvariant(description: "keyset.json isn't whole after seq \(last): \(error)")
        }
        try BrokenInvariant.require(sequence == last + 1 || all.isEmpty, "seq \(last) is followed by \(sequence)")
        let found = Set(timeline.keys.map(\.kid.description))
        try BrokenInvariant.require(found.isSuperset(of: kids), "keys of seq \(last) are missing in seq \(sequence)")
        let primaries = timeline.keys.filter { timeline.state(of: $0.kid, at: time) == .primary }
        try BrokenInvariant.require(primaries.count == 1, "seq \(sequence) has \(primaries.count) primary keys")
        all.append(sequence)
        kids = found
    }
}
