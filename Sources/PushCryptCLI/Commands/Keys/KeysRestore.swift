import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysRestore: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore keysets from a backup, and repeat the revocations of the audit log.",
        discussion: """
            The audit log that is still in the keyset's folder tells what happened after the backup. Keys that it revokes or \
            destroys are revoked or destroyed again, and another key replaces the primary one. The log continues, and seq \
            rises above that of the backup and of the keyset. Other later changes are lost; the command lists them, and \
            refuses unless you add --back-in-time. The replaced keyset.json stays in the folder under another name.

            Without --from, the keyset in its folder is the copy: for a keyset.json that was restored by other means.

            Without the log of the time after the backup, later revocations are unknown. `status` and `keys doctor` report an \
            error then until --confirm says that you have revoked these keys again.

            This host changes the restored keyset from now on. Over a keyset that can be read and that another host \
            changes, the command refuses unless you add --writer this: first stop the other host.

            Exit status: 0 restored, or nothing to do; 75 refused without --back-in-time or --writer; anything else: see \
            pushcrypt --help. With several keysets, --json prints one object per line, and the exit status is that of the \
            first failure.

            Example: pushcrypt keys restore --from /var/backups/keys.backup
            """)

    @Argument(
        help: .init("The keysets, with the folder of each. (default: every keyset of the backup)", "Keys/NAME"))
    var paths: [String] = []
    @Option(name: .customLong("from"), help: .init("The backup.", "FILE")) var file: String?
    @Option(help: .init("The keystore for the keysets of the backup. (default: PUSHCRYPT_KEYS, else Keys)", "Keys"))
    var into: String?
    @Flag(
        name: .customLong("back-in-time"),
        help: "Restore it although later changes are lost. With several keysets it needs Keys/NAME.") var goesBack =
        false
    @Option(
        help: .init(
            "The host that changes the restored keyset, also one that another host changes: this one, or its name.",
            "this|NAME"))
    var writer: String?
    @Flag(
        help: """
            Restore nothing: confirm that the keys which were revoked after a backup without a later log are revoked again.
            """)
    var confirm = false
    @Flag(name: .customLong("dry-run"), help: "Print what would be done and change nothing.") var isDryRun = false
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Secret of the backup") var backupSecret: BackupSecretOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard file != nil || !paths.isEmpty else { throw ValidationError("Name a backup with --from, or a keyset.") }
        guard into == nil || (file != nil && paths.isEmpty) else {
            throw ValidationError("--into needs --from, and no Keys/NAME, which names the keystore too.")
        }
        guard !confirm || (file == nil && !paths.isEmpty && !goesBack && !isDryRun && writer == nil) else {
            throw ValidationError(
                "--confirm needs Keys/NAME, and takes no --from, --into, --back-in-time, --writer and --dry-run.")
        }
        guard file != nil || !backupSecret.isNamed else {
            throw ValidationError(
                "--backup-passphrase-file, --backup-passphrase-fd and --backup-wrap-command need --from.")
        }
    }

    func run() throws {
        let hook = try options.hook()
        let backup = try file.map { try Backup(file: $0, backupSecret.source(of: $0)) }
        let answer = Remembered<KeysetSecret>()
        var failures = [Failure]()
        let paths = paths.isEmpty ? names(in: backup) : paths
        guard !goesBack || !self.paths.isEmpty || paths.count == 1 else {
            throw Failure(
                .usage,
                "--back-in-time loses changes, so name the keysets that need it: \(file ?? "") has "
                    + paths.map { ShellArgument.quoted($0) }.joined(separator: ", "))
        }
        for path in paths {
            do {
                if confirm {
                    try confirmRestoration(of: path, answer)
                } else {
                    try restore(path, copy(of: path, in: backup), answer, hook)
                }
            } catch {
                let failure = Failure(error)
                let message =
                    failure.message + earlierSecret(of: path, in: backup, after: error)
                    + ownSecret(of: path, in: backup, among: paths.count, after: error)
                    + comparison(with: path, after: error)
                StandardStreams.writeError(message)
                if options.json {
                    try StandardStreams.writeJSON(["keyset": path, "problem": message] as JSONObject, [])
                }
                failures.append(failure)
            }
        }
        if let failure = failures.first { throw ExitCode(failure.status.rawValue) }
    }

    /// Which passphrase a backup needs; empty after any other failure than a wrong one.
    private func earlierSecret(of path: String, in backup: Backup?, after error: any Error) -> String {
        guard let file, (error as? KeystoreError)?.code == .wrongSecret,
            let time = (try? copy(of: path, in: backup))??.file.metadata.timeline.updatedAt
        else { return "" }
        return "; \(file) opens with the passphrase that the keyset had at \(time)"
    }

    /// How to restore a keyset that has another secret than the others; empty after any other failure.
    private func ownSecret(of path: String, in backup: Backup?, among count: Int, after error: any Error) -> String {
        let codes: [KeystoreError.Code] = [.wrongSecret, .secretNeeded]
        guard let file, count > 1, secrets.isGiven, let code = (error as? KeystoreError)?.code, codes.contains(code)
        else { return "" }
        let isPublisher = (try? copy(of: path, in: backup))??.file.metadata.kind == .publisher
        let target = isPublisher && into == nil ? "Publisher/\(FileSystem.name(of: path))" : path
        return
            "; if this keyset has a secret of its own, restore it with that\(isPublisher ? ", in a keystore of its own" : ""): "
            + "`pushcrypt keys restore --from \(ShellArgument.quoted(file)) \(ShellArgument.quoted(target)) --passphrase-file FILE`"
    }

    /// How to compare a keyset with a backup of another history; empty after any other failure.
    private func comparison(with path: String, after error: any Error) -> String {
        guard let file, (error as? KeystoreError)?.code == .otherHistory else { return "" }
        let target = ShellArgument.quoted("Restored/\(FileSystem.name(of: KeysetFolder(path).path))")
        return
            ". To compare them with `pushcrypt keys log`, restore the backup beside it: `pushcrypt keys restore --from "
            + "\(ShellArgument.quoted(file)) \(target)\(backupSecret.repeatedArguments)\(secrets.repeatedArguments)`. If the "
            + "backup is the right one, move the folder out of the keystore, restore the backup, and confirm it"
    }

    /// The paths of the keysets of a backup in the keystore. Publishers whose folder isn't there belong in a keystore of their own.
    private func names(in backup: Backup?) -> [String] {
        let keystore = Keystore(into ?? Defaults.keystore).path
        let keysets = backup?.keysets ?? []
        let hasOthers = keysets.contains { $0.file.metadata.kind != .publisher }
        return keysets.compactMap { keyset in
            let path = "\(keystore)/\(keyset.name)"
            guard hasOthers, keyset.file.metadata.kind == .publisher, !FileSystem.exists(path) else { return path }
            let target = ShellArgument.quoted("Publisher/\(keyset.name)")
            StandardStreams.writeNote(
                "\(keyset.name) of the backup has publisher keys and was not restored into \(keystore). If it is lost, restore it in "
                    + "a keystore of its own: `pushcrypt keys restore --from \(ShellArgument.quoted(file ?? "")) \(target)`"
            )
            return nil
        }
    }

    private func copy(of path: String, in backup: Backup?) throws -> BackedUpKeyset? {
        guard let backup else {
            try KeySource.requireKeyset(path, secrets.repeatedArguments)
            return nil
        }
        let name = String(KeysetStore(path).folder.path.split(separator: "/").last ?? "")
        guard let keyset = backup.keyset(name) else {
            let keystore = path.contains("/") ? FileSystem.parent(of: KeysetFolder(path).path) : Defaults.keystore
            let names = backup.keysets.map { ShellArgument.quoted("\(Keystore(keystore).path)/\($0.name)") }
            throw Failure(
                .noInput, "\(file ?? "") has no keyset \(name); it has: \(names.joined(separator: ", "))")
        }
        try requirePlace(path)
        return keyset
    }

    /// A name without a folder is a new keyset of the working folder only if that is the keystore.
    private func requirePlace(_ path: String) throws {
        guard !path.contains("/"), !FileSystem.exists(path), !Self.worksInKeystore else { return }
        let target = ShellArgument.quoted("\(Keystore(Defaults.keystore).path)/\(path)")
        throw Failure(
            .usage,
            "\(path) would be outside the keystore. To restore it there, name \(target); to restore it in the working folder, name "
                + ShellArgument.quoted("./" + path))
    }

    /// Whether the working folder is the keystore; if there is no other one, whether it has keysets.
    private static var worksInKeystore: Bool {
        let keystore = Defaults.keystore
        guard !FileSystem.isFolder(keystore) else {
            return FileSystem.resolvedPath(keystore) == FileSystem.resolvedPath(".")
        }
        return (try? Keystore(".").everyKeyset())?.isEmpty == false
    }

    private func confirmRestoration(of path: String, _ answer: Remembered<KeysetSecret>) throws {
        let change = try KeysetChange(path, options, clock, secrets, .anything, answer)
        let found = try KeySource.naming(path, secrets.repeatedArguments) {
            try KeysetStore(path).log(change.answerSecret())
        }
        guard let entry = found.log.unconfirmedRestoration(found.metadata.audit) else {
            return StandardStreams.writeNote("\(path): there is no restoration to confirm; nothing was changed")
        }
        try change.make { $0.confirm(restoration: entry) }
    }

    private func restore(
        _ path: String, _ copy: BackedUpKeyset?, _ answer: Remembered<KeysetSecret>, _ hook: ChangeHook?
    ) throws {
        let secret = secrets.source(of: path, remembering: answer)
        let writer = try writer.map(Writer.named)
        let restoration = try KeySource.naming(path, secrets.repeatedArguments) {
            try KeysetStore(path).restore(
                copy, goesBack: goesBack, isDryRun: isDryRun, writer: writer, at: options.time,
                confirmsClock: clock.isConfirmed, by: options.actor(secrets), secret)
        }
        for notice in restoration.notices { StandardStreams.writeNote(notice) }
        try report(path, restoration)
        if let hook, !isDryRun {
            try KeysetStore(path).run(hook, after: restoration.metadata, secrets.repeatedArguments)
        }
    }

    private func report(_ path: String, _ restoration: Restoration) throws {
        let metadata = restoration.metadata
        if options.json {
            let json: JSONObject = [
                "keyset": path, "isDryRun": isDryRun, "done": restoration.events.map(\.json), "lost": restoration.lost,
                "seq": metadata.sequence,
            ]
            // The restoration makes another line of the log, at its own time.
            let head = isDryRun && !restoration.events.isEmpty ? nil : AuditChain.text(metadata.audit.hash)
            return try StandardStreams.writeJSON(json.adding(ifKnown: ["head": head, "writer": metadata.writer]), [])
        }
        let name = TerminalText.harmless(path.utf8)
        guard !restoration.isRepeated else {
            return try StandardStreams.write(
                "nothing to restore: \(name) has been restored from this backup already\n")
        }
        guard !restoration.events.isEmpty else {
            return try StandardStreams.write("\(name): nothing to restore, seq \(metadata.sequence)\n")
        }
        let sequence = "restored as seq \(metadata.sequence)"
        let heading = isDryRun ? "would be \(sequence), with these changes:" : sequence
        let publishes = !isDryRun && metadata.signedSet != nil
        let condition = restoration.events.contains { $0.action == .logLost } ? "when it is confirmed, " : ""
        try StandardStreams.write(
            "\(name): \(heading)\n"
                + restoration.events.map { TerminalText.harmless(lines: "  " + $0.line) }.joined()
                + (publishes ? "  \(condition)publish \(PublicationStatus.publishing(path, secrets))\n" : ""))
    }
}
