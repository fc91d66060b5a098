package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
import PushCryptPrimitives

/// Changes a keyset on disk atomically, one process at a time.
///
/// ```
/// lock the folder, read, finish an interrupted change, change, check the invariants
/// write keyset.json under another name, fsync, rename, fsync the folder      the rename commits the change
/// write public.jwks.json in the same way
/// append to audit.jsonl, fsync
/// ```
/// A crash before the rename leaves the old keyset. A crash after it leaves the new one, and the next change finishes the
/// other files.
package struct KeysetStore: Sendable {
    package let folder: KeysetFolder

    package init(_ path: String) { folder = KeysetFolder(path) }

    package struct Change<Result> {
        package let result: Result
        package let metadata: KeysetMetadata
        /// Empty if nothing was written.
        package let events: [AuditEvent]
        /// Messages about an interrupted change that was finished or discarded.
        package let notices: [String]
    }

    /// Changes the keyset.
    ///
    /// - Parameters:
    ///   - confirmsClock: whether an operator has confirmed a clock that seems to be far ahead.
    ///   - secret: a person is asked before the lock is taken.
    ///   - body: changes the keyset; if it doesn't, nothing is written.
    /// - Throws: `KeystoreError`, `KeyError`, `LifecycleError`, and what `body` throws. After an error nothing is changed,
    ///   unless the reason says that only the log or the public file couldn't be written.
    package func change<Result>(
        at time: UnixTime, confirmsClock: Bool = false, by actor: Actor, _ secret: SecretSource,
        _ body: (inout KeysetEditor) throws -> Result
    ) throws -> Change<Result> {
        try withKeyset(secret) { folder, stored in
            try change(stored, folder, at: time, confirmsClock: confirmsClock, by: actor, body)
        }
    }

    private func change<Result>(
        _ stored: StoredKeyset, _ folder: Folder, at time: UnixTime, confirmsClock: Bool, by actor: Actor,
        _ body: (inout KeysetEditor) throws -> Result
    ) throws -> Change<Result> {
        let notices = try finishInterruptedChange(folder, stored, actor.secretArguments)
        var editor = KeysetEditor(stored, at: time, confirmsClock: confirmsClock)
        let result = try body(&editor)
        guard !editor.events.isEmpty else {
            return Change(result: result, metadata: stored.metadata, events: [], notices: notices)
        }
        let finished = try editor.finished(by: actor, at: folder.path)
        try write(finished, folder)
        let adoption = Self.adoption(of: stored, finished).map { ["\(folder.path): \($0)"] } ?? []
        return Change(
            result: result, metadata: finished.metadata, events: editor.events, notices: notices + adoption)
    }

    /// What the first change that records a writer says.
    private static func adoption(of old: StoredKeyset, _ new: StoredKeyset) -> String? {
        guard old.metadata.writer == nil, let writer = new.metadata.writer else { return nil }
        return "from now on only \(writer) changes this keyset; another host needs `keys policy --writer`"
    }

    /// Asks for the secret, locks the folder and unlocks the keys.
    func withKeyset<Result>(
        _ secret: SecretSource, evenIfOlder: Bool = false, _ body: (Folder, StoredKeyset) throws -> Result
    ) throws -> Result {
        let secret = secret.isGiven ? secret : try folder.file().answered(secret, evenIfOlder: evenIfOlder)
        return try withLock { folder in
            try body(
                folder, self.folder.file(in: folder, secret.arguments).unlocked(secret, evenIfOlder: evenIfOlder))
        }
    }

    /// Calls `body` with the locked folder and converts a `FileError` to `KeystoreError`.
    func withLock<Result>(_ body: (Folder) throws -> Result) throws -> Result {
        try KeystoreError.convertingFileErrors {
            let folder = try self.folder.locked()
            FaultPoint.reach("locked")
            return try body(folder)
        }
    }

    func write(_ keyset: StoredKeyset, _ folder: Folder) throws {
        // The cryptographic library may fail. So it is called before the rename, after which only files are written.
        let published = try changedPublic(keyset, folder)
        try writeKeyset(keyset, folder)
        do {
            try KeystoreError.convertingFileErrors { try writeRest(keyset, published, folder) }
        } catch let error as KeystoreError {
            throw KeystoreError(
                error.code,
                "the keyset was changed, but its public file or audit log was not; the next change or `keys verify` "
                    + "finishes this: \(error.reason)")
        }
    }

    /// Writes `keyset.json`, which commits the change. Parses the new text before it replaces the current one.
    func writeKeyset(_ keyset: StoredKeyset, _ folder: Folder) throws {
        var text = try keyset.fileText()
        defer { wipe(&text) }
        let read = try KeysetFile(text, path: folder.path)
        guard read.metadata == keyset.metadata, read.protection == keyset.protection else {
            throw KeystoreError(.damaged, "\(folder.path): the new keyset can't be read back; nothing was written")
        }
        try folder.replace(KeysetFolder.keysetName, with: text) { FaultPoint.reach("keyset-\($0)") }
    }

    /// Writes the files that are derived from `keyset.json`.
    ///
    /// - Parameter published: from ``changedPublic(_:_:)``.
    func writeRest(_ keyset: StoredKeyset, _ published: [UInt8]?, _ folder: Folder) throws {
        try writePublic(published, folder)
        FaultPoint.reach("published")
        try folder.append(AuditLog.bytes(of: keyset.metadata.audit.lastLines), to: KeysetFolder.auditName)
        FaultPoint.reach("logged")
    }

    /// The new text of `public.jwks.json`, which was parsed; nil if it is the current one or the keyset has none.
    func changedPublic(_ keyset: StoredKeyset, _ folder: Folder) throws -> [UInt8]? {
        guard let published = try keyset.published() else { return nil }
        let current = try? folder.read(KeysetFolder.publicName).bytes
        guard current != published else { return nil }
        _ = try Keyset(json: published)
        return published
    }

    /// Writes `public.jwks.json` if it has a new text.
    ///
    /// - Returns: whether it was written.
    @discardableResult
    func writePublic(_ published: [UInt8]?, _ folder: Folder) throws -> Bool {
        guard let published else { return false }
        try folder.replace(KeysetFolder.publicName, with: published, mode: 0o644) { FaultPoint.reach("public-\($0)") }
        return true
    }
}

extension KeysetStore {
    package struct Rotation {
        /// The plan for the keyset before the rotation. Its due steps were carried out, except in a dry run.
        package let plan: RotationPlan
        package let done: [(step: RotationPlan.Step, kid: KeyID?)]
        package let metadata: KeysetMetadata
        /// Messages about an interrupted change that was finished or discarded.
        package let notices: [String]
        /// Whether the keys were read, and the secret of encrypted keys is right.
        package let isUnlocked: Bool
    }

    /// Whether a rotation checks the secret of encrypted keys if no step is due. A step always needs it.
    package enum SecretCheck: Sendable {
        /// Asks a person if no secret was given.
        case always
        case ifGiven
        case never

        func applies(to secret: SecretSource, _ protection: Protection) -> Bool {
            // Plain keys need no secret, and are refused if one was given.
            protection == .plaintext || self == .always || self == .ifGiven && secret.isGiven
        }
    }

    /// Carries out the due steps of the plan.
    ///
    /// ```
    /// lock the folder, read, plan
    /// refuse a broken log, and a step for a keyset with a copy; stop if nothing is due and the secret isn't checked
    /// unlock the keys; stop if nothing is due
    /// finish an interrupted change, carry out the plan, check the invariants
    /// write, publish, log
    /// ```
    /// The keyset is read, planned and unlocked once. If a person must be asked for the secret, the lock is released, and
    /// the keyset is read and planned again after the answer.
    /// - Parameters:
    ///   - check: a secret that is checked also authenticates the metadata, of which the plan is made.
    ///   - isDryRun: whether to make only the plan, without the lock.
    ///   - plan: makes the plan.
    /// - Throws: `KeystoreError`, `KeyError`, `LifecycleError`, as ``change(at:by:_:_:)``.
    package func rotate(
        at time: UnixTime, by actor: Actor, _ secret: SecretSource, checking check: SecretCheck = .ifGiven,
        isDryRun: Bool = false, _ plan: (KeysetMetadata) -> RotationPlan
    ) throws -> Rotation {
        guard !isDryRun else { return try dryRun(by: actor, secret, check, plan) }
        let first = try attempt(at: time, by: actor, secret, check, plan)
        if let rotation = first.rotation { return rotation }
        // Without the lock, so that other processes don't wait for a person.
        let answered = try first.file.answered(secret)
        guard let rotation = try attempt(at: time, by: actor, answered, check, plan).rotation else {
            preconditionFailure("an answered secret counts as given")
        }
        return rotation
    }

    /// Refuses what would refuse the rotation; another host and a copy only if a step is due.
    private func dryRun(
        by actor: Actor, _ secret: SecretSource, _ check: SecretCheck, _ plan: (KeysetMetadata) -> RotationPlan
    ) throws -> Rotation {
        let (metadata, isUnlocked) = try requireChangeable(secret, check)
        let plan = plan(metadata)
        if !plan.due.isEmpty {
            try requireNoCopy(metadata)
            try Writer.require(metadata.writer, actor, folder.path)
        }
        return Rotation(plan: plan, done: [], metadata: metadata, notices: [], isUnlocked: isUnlocked)
    }

    /// The metadata of a keyset that this user can change, and whether its keys were read. The writer and the clock aren't checked.
    ///
    /// - Throws: `KeystoreError`, `KeyError`, as a change: the files can't be used, the keyset is an earlier copy, or its log is
    ///   broken.
    @discardableResult
    func requireChangeable(
        _ secret: SecretSource, _ check: SecretCheck
    ) throws -> (metadata: KeysetMetadata, isUnlocked: Bool) {
        let opened = try KeystoreError.convertingFileErrors { try Folder(folder.path) }
        let file = try folder.file(in: opened, secret.arguments)
        let isUnlocked = check.applies(to: secret, file.protection)
        let metadata = try isUnlocked ? file.unlocked(secret).metadata : file.metadata(secret, isAuthenticated: false)
        try requireUnbrokenLog(opened, metadata, secret.arguments)
        return (metadata, isUnlocked)
    }

    /// - Returns: no rotation if the keys must be read and are encrypted, but no secret was given.
    private func attempt(
        at time: UnixTime, by actor: Actor, _ secret: SecretSource, _ check: SecretCheck,
        _ plan: (KeysetMetadata) -> RotationPlan
    ) throws -> (rotation: Rotation?, file: KeysetFile) {
        try withLock { folder in
            let file = try self.folder.file(in: folder, secret.arguments)
            let isReadable = secret.isGiven || file.protection == .plaintext
            let isChecked = check.applies(to: secret, file.protection)
            let checked = isChecked && isReadable ? try file.unlocked(secret) : nil
            let plan = try plan(checked?.metadata ?? file.metadata(secret, isAuthenticated: isChecked))
            try requireUnbrokenLog(folder, file.metadata, secret.arguments)
            if !plan.due.isEmpty { try requireNoCopy(file.metadata) }
            func unchanged(isUnlocked: Bool) -> Rotation {
                Rotation(plan: plan, done: [], metadata: file.metadata, notices: [], isUnlocked: isUnlocked)
            }
            guard isChecked || !plan.due.isEmpty else { return (unchanged(isUnlocked: false), file) }
            guard isReadable else { return (nil, file) }
            let stored = try checked ?? file.unlocked(secret)
            guard !plan.due.isEmpty else { return (unchanged(isUnlocked: true), file) }
            let change = try change(stored, folder, at: time, confirmsClock: plan.confirmsClock, by: actor) {
                try $0.carryOut(plan)
            }
            let rotation = Rotation(
                plan: plan, done: change.result, metadata: change.metadata, notices: change.notices, isUnlocked: true)
            return (rotation, file)
        }
    }
}

extension KeysetFolder {
    /// Opens the folder and locks it until the object is released.
    ///
    /// A user who can open the folder can hold its lock for ever. So this function refuses a folder that isn't private
    /// before it waits. Demo keys need no private folder; for them it waits at most 10 seconds.
    ///
    /// - Throws: `KeystoreError`, `KeyError`.
    func locked() throws -> Folder {
        try KeystoreError.convertingFileErrors {
            let folder = try Folder(path)
            if try folder.isPrivate {
                try folder.lock(.exclusive)
            } else {
                _ = try file(in: folder)
                try folder.lock(.exclusive, .until(.now + .seconds(10)))
            }
            return folder
        }
    }
}

extension Folder {
    var isPrivate: Bool {
        get throws(FileError) {
            let access = try status().access
            return access.belongs(to: FileSystem.ownUser) && access.keepsOthersOut(.ownerOnly)
        }
    }
}

extension StoredKeyset {
    /// The text of `public.jwks.json`; nil for shared keys, which have no public half.
    package func published() throws -> [UInt8]? {
        guard metadata.kind != .shared else { return nil }
        return try keyset().publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    }

    /// The text of `keyset.json`. The caller wipes it.
    ///
    /// - Throws: `KeystoreError` with `secretNeeded` if the protection needs one.
    package func fileText() throws -> [UInt8] {
        var keys = try keysText()
        defer { wipe(&keys) }
        let metadata = metadata.json
        var output = [UInt8]()
        output.reserveCapacity(keys.count * 2 + metadata.count + 1_024)
        output += "{\n  ".utf8
        if protection == .plaintext {
            output += keys[1..<keys.count - 1]
        } else {
            let sealed = try sealedKeys(keys, metadata)
            output += "\"sealed\": ".utf8
            output += sealed.json
        }
        output += ",\n  \"pushcrypt\": ".utf8
        output += metadata
        let digest = try KeysetFile.digest(output[...])
        output += ",\n  \"\(KeysetFile.digestName)\": \"\(Base64URL.encode(digest))\"\n}\n".utf8
        return output
    }

    /// The parameters of its passphrase, if it has one.
    var parameters: ScryptParameters {
        if case .passphrase(let own) = protection { own } else { .standard }
    }

    private func sealedKeys(_ keys: [UInt8], _ metadata: [UInt8]) throws -> SealedKeys {
        if let secrets { return try SealedKeys.seal(keys, metadata: metadata, secrets: secrets) }
        guard let secret else { throw KeystoreError(.secretNeeded, "encrypting the keys needs a secret") }
        return try SealedKeys.seal(keys, metadata: metadata, secret: secret, parameters: parameters)
    }

    /// `{"keys": [JWK, ...]}`
    private func keysText() throws -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(64 + records.count * (KeyRecord.maximumJWKByteCount + 8))
        output += "{\"keys\": [".utf8
        var isFirst = true
        for key in metadata.timeline.keys {
            guard let record = records[key.kid] else { continue }
            output += (isFirst ? "\n    " : ",\n    ").utf8
            isFirst = false
            try record.appendJWK(to: &output)
        }
        output += "\n  ]}".utf8
        return output
    }
}
