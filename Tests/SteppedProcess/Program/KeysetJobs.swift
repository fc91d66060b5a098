import Logging
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptSender

/// Jobs for a keyset of shared keys in plain text. Each change returns the kids that it added or revoked.
enum KeysetJobs {
    private static let actor = Actor(name: "stepped", reason: nil)

    @Sendable static func add(_ arguments: [String]) throws -> [String] {
        [try change(arguments) { try $0.add(activatesAt: nil) }.description]
    }

    @Sendable static func revoke(_ arguments: [String]) throws -> [String] {
        let kids = try change(arguments) { editor in
            let primary = editor.metadata.timeline.primary(at: editor.now)!.kid
            return [primary, try editor.revoke(primary)].compactMap(\.self)
        }
        return kids.map(\.description)
    }

    @Sendable static func rotate(_ arguments: [String]) throws -> [String] {
        let time = time(arguments)
        let rotation = try KeysetStore(arguments[0]).rotate(at: time, by: actor, .none) { keyset in
            RotationPlan(keyset.timeline, keyset.policy, at: time)
        }
        return rotation.done.compactMap(\.kid?.description)
    }

    /// In the current folder, because creating a keyset also looks at what lies beside the folders that its path names.
    @Sendable static func create(_ arguments: [String]) throws -> [String] {
        let parent = FileSystem.parent(of: arguments[0])
        guard unsafe chdir(parent) == 0 else { throw FileError(.read, parent) }
        let record = try KeyRecord.generate(.shared, backend: DefaultBackend.shared)
        try KeysetStore(FileSystem.name(of: arguments[0])).create(
            record, .standard, .plaintext, nil, at: time(arguments), by: actor)
        return [record.kid.description]
    }

    /// Writes the whole file as a change does, but without the lock.
    @Sendable static func addUnlocked(_ arguments: [String]) throws -> [String] {
        let place = KeysetFolder(arguments[0])
        let stored = try place.file().unlocked(.none)
        var editor = KeysetEditor(stored, at: time(arguments))
        let kid = try editor.add(activatesAt: nil)
        var changed = editor.stored
        changed.metadata.sequence += 1
        changed.metadata.timeline.updatedAt = editor.now
        try Folder(place.path).replace(KeysetFolder.keysetName, with: changed.fileText())
        return [kid.description]
    }

    /// - Returns: the `seq` in use at the start and after each check.
    @Sendable static func watch(_ arguments: [String]) throws -> [String] {
        let time = time(arguments)
        var logger = Logger(label: "stepped")
        logger.logLevel = .critical
        let watcher = try KeysetWatcher(
            folder: arguments[0], pollInterval: .seconds(3_600), logger: logger, clock: { time })
        defer { watcher.stop() }
        return [watcher.current.sequence.description]
            + (0..<Int(arguments[2])!).map { _ in
                watcher.tick()
                return watcher.current.sequence.description
            }
    }

    private static func change<Result>(
        _ arguments: [String], _ body: (inout KeysetEditor) throws -> Result
    ) throws -> Result {
        try KeysetStore(arguments[0]).change(at: time(arguments), by: actor, .none, body).result
    }

    private static func time(_ arguments: [String]) -> UnixTime { UnixTime(Int64(arguments[1])!) }
}
