import ArgumentParser
import PushCryptFiles
import PushCryptKeysets

/// The secret of a backup file. A keyset's own secret is not used for it.
struct BackupSecretOptions: ParsableArguments {
    @Option(help: .init("A file with the backup's passphrase, which only its owner can read.", "FILE"))
    var backupPassphraseFile: String?

    @Option(
        name: .customLong("backup-passphrase-fd"),
        help: .init("An inherited file descriptor to read the backup's passphrase from.", "N"))
    var backupPassphraseDescriptor: Int32?

    @Option(help: .init("A command that wraps and unwraps the backup's data key.", "COMMAND"))
    var backupWrapCommand: String?

    func validate() throws {
        let given = [backupPassphraseFile != nil, backupPassphraseDescriptor != nil, backupWrapCommand != nil]
        guard given.filter(\.self).count <= 1 else {
            throw ValidationError(
                "Use only one of --backup-passphrase-file, --backup-passphrase-fd and --backup-wrap-command.")
        }
    }

    /// nil if no option names one.
    func named() throws -> KeysetSecret? {
        if let backupPassphraseFile { return try .passphraseFile(backupPassphraseFile) }
        if let backupPassphraseDescriptor { return try .passphraseDescriptor(backupPassphraseDescriptor) }
        return backupWrapCommand.map { .command($0) }
    }

    var isNamed: Bool { backupPassphraseFile != nil || backupPassphraseDescriptor != nil || backupWrapCommand != nil }

    /// The options as they are repeated in a command that reads the same backup. A descriptor can't be read again.
    var repeatedArguments: String {
        let file = backupPassphraseFile.map { " --backup-passphrase-file " + ShellArgument.quoted($0) }
        return file ?? backupWrapCommand.map { " --backup-wrap-command " + ShellArgument.quoted($0) } ?? ""
    }

    /// The secret of a backup that is read. A secret that is named refuses a backup that isn't sealed; otherwise it is asked
    /// for if the backup is sealed.
    func source(of path: String) throws -> SecretSource {
        if let named = try named() { return .given { named } }
        return .asked {
            guard let terminal = Terminal() else {
                throw Failure(
                    .usage,
                    "\(path) is sealed: use --backup-passphrase-file, --backup-passphrase-fd or --backup-wrap-command")
            }
            return try terminal.passphrase("Passphrase of the backup \(TerminalText.harmless(path.utf8)): ")
        }
    }
}
