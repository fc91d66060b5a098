import Logging
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender

/// Jobs for a keyset of shared keys in plain text. The host's histories are in the folder `seen` beside the keystore. Each change
/// returns the kids that it added or changed.
enum KeysetJobs {
    @Sendable static func add(_ arguments: [String]) throws -> [String] {
        let record = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        return kids(try host(arguments).importKey(arguments[0], record).log)
    }

    @Sendable static func revoke(_ arguments: [String]) throws -> [String] {
        let host = host(arguments)
        let keyset = try host.change(arguments[0], .revoked) { draft in
            try draft.revoke(draft.timeline.primary(at: host.clock)!.kid)
        }
        return kids(keyset.log)
    }

    @Sendable static func rotate(_ arguments: [String]) throws -> [String] {
        let host = host(arguments)
        let before = try host.lock(arguments[0])
        let after = try host.rotate(before)
        try host.recordRun(of: after, status: 0)
        return after.state.head == before.state.head ? [] : kids(after.log)
    }

    @Sendable static func create(_ arguments: [String]) throws -> [String] {
        kids(try host(arguments).create(arguments[0], .shared).log)
    }

    /// Writes the whole file as a change does, but without the lock.
    @Sendable static func addUnlocked(_ arguments: [String]) throws -> [String] {
        let (location, time) = (KeysetLocation(arguments[0]), time(arguments))
        let rows = try KeysetRows(at: location, .reading)
        var (draft, material) = (KeysetDraft(rows.log.state, at: time), try rows.unlocked(nil))
        try draft.add(activatesAt: nil)
        let (changes, records) = try draft.finished(material.records, isOrdinary: true)
        let log = try rows.log.appending(.rotated, at: time, who: "stepped", changes)
        material.records = records
        try Folder(location.keystore).replace(location.fileName, with: material.file(log))
        return kids(log)
    }

    /// - Returns: the number of the last line in use at the start and after each check.
    @Sendable static func watch(_ arguments: [String]) throws -> [String] {
        let time = time(arguments)
        var logger = Logger(label: "stepped")
        logger.logLevel = .critical
        let watcher = try KeysetWatcher(
            file: arguments[0], history: histories(arguments).path, pollInterval: .seconds(3_600), logger: logger,
            clock: { time })
        defer { watcher.stop() }
        return try [watcher.current.sequence.description]
            + (0..<Int(arguments[2])!).map { _ in
                watcher.tick()
                // No order of changes is a reason to refuse a file.
                if let refusal = watcher.status.refusal { throw KeystoreError(.damaged, refusal) }
                return watcher.current.sequence.description
            }
    }

    private static func host(_ arguments: [String]) -> KeystoreHost<FileStorage> {
        let storage = FileStorage(histories: histories(arguments), servedFolder: nil) { _, _ in nil }
        return KeystoreHost(storage, name: "stepped", who: "stepped", clock: time(arguments))
    }

    private static func histories(_ arguments: [String]) -> HistoryFolder {
        HistoryFolder(FileSystem.parent(of: KeysetLocation(arguments[0]).keystore) + "/seen")
    }

    private static func kids(_ log: KeysetLog) -> [String] { log.lines.last!.changes.keys.map(\.kid.description) }

    private static func time(_ arguments: [String]) -> UnixTime { UnixTime(Int64(arguments[1])!) }
}
