import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the keysets of a keystore, or the keys of a keyset.",
        discussion: """
            It needs no secret, not even for encrypted keys: nothing authenticates what it shows. Those who can write a \
            keyset's file can write another one; `pushcrypt keys log` with the secret authenticates it. A copy that is older \
            than what this host has seen isn't shown. --pins verifies a signed sender set and shows it. The timeline is as \
            wide as COLUMNS or the terminal.

            The list of a keystore shows all keysets also if some can't be read; the first such error is the exit status.

            Example: pushcrypt keys list Keys/backend
            """)

    @Argument(
        help: .init(
            "A keystore, a keyset, or a file with keys. (default: the keystores of the settings, PUSHCRYPT_KEYS, Keys)",
            "Keys|Keys/NAME|FILE"))
    var path: String?
    @Option(help: .init("The app's pins; needed if the file is a signed sender set.", "FILE")) var pins: String?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var keystore: KeystoreOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions

    func run() throws {
        let keysets = try HostKeysets(keystore, at: timeOptions.time, SecretOptions.parse([]))
        guard let view = try view(keysets) else {
            let named = path.map { [$0] } ?? keysets.settings?.keystores ?? []
            return try KeystoreList(named.isEmpty ? [Defaults.keystore] : named, keysets).print(asJSON: json)
        }
        try StandardStreams.write(view.rows, asJSON: json) { terminal in
            KeysetDescription(view: view, terminal: terminal, width: StandardStreams.columns).text
        }
    }

    /// The keyset or the FILE; nil for a keystore.
    private func view(_ keysets: HostKeysets) throws -> KeysetView? {
        guard let path else { return nil }
        let location = keysets.location(path)
        let isFile = pins != nil || FileSystem.exists(path) && !FileSystem.exists(location.path)
        guard isFile else { return try keysets.view(location) }
        return pins == nil && FileSystem.isFolder(path)
            ? nil : try KeysetView(file: path, pins: pins, at: timeOptions.time)
    }
}

extension HostKeysets {
    /// For commands that change nothing: they need no name of the host.
    func reader(of location: KeysetLocation) -> KeystoreHost<FileStorage> {
        KeystoreHost(storage(of: location, secret: secret), name: "", who: "", clock: time)
    }

    /// Reads a keyset without its secret. Nothing authenticates it.
    ///
    /// - Throws: `Failure` that names the keyset.
    func read(_ location: KeysetLocation) throws -> KeysetLog {
        do { return try reader(of: location).read(location.path) } catch { throw Failure(error, of: location.path) }
    }

    func view(_ location: KeysetLocation) throws -> KeysetView {
        let log = try read(location)
        let plan = log.state.isDemo ? nil : reader(of: location).plan(log.state)
        let name = String(location.path.dropLast(KeysetLocation.suffix.count))
        return try KeysetView(name, log, plan: plan, at: time)
    }
}
