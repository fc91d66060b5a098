import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write keysets and their audit logs to one file, and read it back.",
        discussion: """
            A keyset that is encrypted keeps its own encryption in the backup: to restore it you need its secret of today. \
            A keyset in plain text is accepted only with a secret of the backup. With such a secret, the whole backup is \
            encrypted. FILE must not exist; its mode is 600. With a keyset's secret, the keysets are authenticated first; \
            without one no secret is needed. If one of the keysets or keystores can't be backed up, nothing is written: a \
            backup is never partial.

            Example: pushcrypt keys backup --all --to /var/backups/keys.backup
            """)

    @Argument(help: .init("The keysets, or with --all the keystores.", "Keys/NAME")) var paths: [String] = []
    @Option(name: .customLong("to"), help: .init("The new file.", "FILE")) var file: String
    @Flag(
        name: .customLong("all"),
        help: "Every keyset of the keystores. The default keystore is PUSHCRYPT_KEYS, else Keys.")
    var isForAll = false
    @Flag(help: "Print JSON: the file and its keysets.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Secret of the backup") var backupSecret: BackupSecretOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard isForAll || !paths.isEmpty else { throw ValidationError("Name a keyset, or add --all.") }
    }

    func run() throws {
        let folder = FileSystem.parent(of: file)
        guard try !KeysetFolder(folder).exists else {
            throw Failure(
                .usage,
                "\(folder) is the folder of a keyset: a backup in it is lost together with it; name another folder")
        }
        let keysets = try keysets().map { path in
            try KeySource.requireKeyset(path, secrets.repeatedArguments, hasAll: true)
            let secret = secrets.isGiven ? secrets.source(of: path) : .none
            return try KeySource.naming(path, secret.arguments) { try KeysetStore(path).backedUp(secret) }
        }
        let backup = try Backup(of: keysets, at: timeOptions.time)
        let secret = try secret(of: backup)
        try backup.write(to: file, secret)
        let rows = keysets.map { keyset -> JSONObject in
            let metadata = keyset.file.metadata
            return ["keyset": keyset.name, "seq": metadata.sequence, "head": AuditChain.text(metadata.audit.hash)]
        }
        let json: JSONObject = ["file": file, "isSealed": secret != nil, "keysets": rows]
        try StandardStreams.write(json, asJSON: self.json) { _ in
            keysets.map { "\(TerminalText.harmless($0.name.utf8)): seq \($0.file.metadata.sequence)\n" }.joined()
        }
    }

    private func keysets() throws -> [String] {
        guard isForAll else { return Keystore.distinct(paths) }
        let found = Keystore.keysets(in: paths.isEmpty ? [Defaults.keystore] : paths, includingDemoKeys: false)
        return try found.map { path, problem in
            if let problem { throw problem }
            return path
        }
    }

    private func secret(of backup: Backup) throws -> KeysetSecret? {
        if let named = try backupSecret.named() { return try named.asNew() }
        guard backup.needsSecret else { return nil }
        guard let terminal = Terminal() else {
            let names = backup.keysets.filter { $0.file.protection == .plaintext }.map(\.name)
            throw Failure(
                .usage,
                "\(names.joined(separator: ", ")) in plain text: the backup needs a secret of its own: use "
                    + "--backup-passphrase-file, --backup-passphrase-fd or --backup-wrap-command")
        }
        return try terminal.newPassphrase()
    }
}
