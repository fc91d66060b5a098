import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// Where the keysets of a host are.
struct KeystoreOptions: ParsableArguments {
    @Option(
        name: .customLong("settings"),
        help: .init(
            "The settings. (default: PUSHCRYPT_SETTINGS, /etc/pushcrypt/pushcrypt.json, ~/.config/pushcrypt/pushcrypt.json)",
            "FILE"))
    var settingsFile: String?
    @Option(
        help: .init("What this host has seen of keysets that the settings don't have. (default: nothing)", "FOLDER"))
    var history: String?
}

/// The keysets of a host and what the settings say about them.
struct HostKeysets {
    /// nil without settings.
    let settings: Settings?
    let time: UnixTime
    let secrets: SecretOptions
    private let confirmsClock: Bool
    private let givenHistory: HistoryFolder?
    /// nil if nothing is published.
    let servedFolder: String?
    private let answer = Remembered<KeysetSecret>()
    private let knownPublishers = Remembered<[KeysetLocation]>()

    /// - Parameter served: in place of the settings' folder.
    init(
        _ options: KeystoreOptions, confirmsClock: Bool = false, at time: UnixTime, _ secrets: SecretOptions,
        servedFolder: String? = nil
    ) throws {
        do { settings = try Settings.find(options.settingsFile) } catch { throw Failure(error, of: "the settings") }
        self.time = time
        self.secrets = secrets
        self.servedFolder = servedFolder ?? settings?.publishTo
        self.confirmsClock = confirmsClock
        givenHistory = options.history.map(HistoryFolder.init)
    }

    /// The account and, with sudo, the account that called it.
    static var actor: String {
        let caller = ProcessEnvironment.variable("SUDO_USER").map { " (sudo by \($0))" } ?? ""
        let text = TerminalText.harmless((ProcessEnvironment.accountName + caller).utf8)
        // At most 256 bytes.
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(64)))
    }

    /// - Throws: `Failure` for a host without a name.
    static func writer() throws -> String {
        guard let name = try Writer.ofThisHost() else {
            throw Failure(.config, "this host has no machine id and so no name in keysets: set \(Writer.variable)")
        }
        return name
    }

    /// A path, or the name of a keyset of the settings.
    func location(_ argument: String) -> KeysetLocation {
        guard !argument.contains("/"), let settings else { return KeysetLocation(argument) }
        let inKeystores = settings.keystores.map { KeysetLocation("\($0)/\(argument)") }
        return inKeystores.first { FileSystem.exists($0.path) } ?? KeysetLocation(argument)
    }

    /// Whether the settings have the keystore of a keyset.
    func has(_ location: KeysetLocation) -> Bool {
        guard let keystore = FileSystem.resolvedPath(location.keystore) else {
            return settings?.keystores.contains(location.keystore) ?? false
        }
        return settings?.keystores.contains { FileSystem.resolvedPath($0) == keystore } ?? false
    }

    /// The given keysets; else those of the settings, and what is missing.
    func chosen(_ arguments: [String]) -> (found: [KeysetLocation], problems: [(path: String, error: any Error)]) {
        guard arguments.isEmpty else { return (arguments.map(location), []) }
        let (found, problems) = present()
        let missing = missing().map { (path: $0.path, error: KeystoreRefusal.missing(path: $0.path) as any Error) }
        return (found, problems + (problems.isEmpty ? missing : []))
    }

    /// The keysets of the settings' keystores, and the keystores that can't be read.
    func present() -> (found: [KeysetLocation], problems: [(path: String, error: any Error)]) {
        var (found, problems) = ([KeysetLocation](), [(path: String, error: any Error)]())
        for keystore in settings?.keystores ?? [] {
            do {
                found += try FileSystem.names(in: keystore).sorted().filter { $0.hasSuffix(KeysetLocation.suffix) }
                    .map { KeysetLocation("\(keystore)/\($0)") }
            } catch { problems.append((keystore, error)) }
        }
        return (found, problems)
    }

    /// Whether the settings expect a keyset that isn't there.
    func isMissing(_ name: String) -> Bool { missing().contains { $0.name == name } }

    /// The expected keysets without a file, in the first keystore that can have them: publishers have one of their own.
    ///
    /// - Parameter kind: nil if it isn't known.
    func missing(_ kind: KeyKind? = nil) -> [KeysetLocation] {
        guard let settings, !settings.expected.isEmpty else { return [] }
        let (found, publishers) = (present().found, publishers(nil))
        let free = settings.keystores.first { keystore in
            let present = found.filter { $0.keystore == keystore }
            return kind.map { kind in present.allSatisfy { publishers.contains($0) == (kind == .publisher) } }
                ?? present.isEmpty
        }
        // A keyset that was only renamed isn't missing.
        guard found.count < settings.expected.count, let keystore = free ?? settings.keystores.first else { return [] }
        let names = Set(found.map(\.name))
        return settings.expected.filter { !names.contains($0) }.map { KeysetLocation("\(keystore)/\($0)") }
    }

    /// - Parameter source: whose secret opens the keyset; nil for its own.
    func host(
        of location: KeysetLocation, secretOf source: KeysetLocation? = nil
    ) throws -> KeystoreHost<FileStorage> {
        let histories = has(location) ? HistoryFolder.standard(given: settings?.history) : givenHistory
        let storage = FileStorage(histories: histories, servedFolder: servedFolder) { location, rows in
            try secret(of: source ?? location, rows)
        }
        return try KeystoreHost(
            storage, name: Self.writer(), who: Self.actor, clock: time, confirmsClock: confirmsClock)
    }

    /// Reads a keyset that the command doesn't change, such as a publisher.
    ///
    /// - Throws: `Failure` that names the keyset.
    func load(_ location: KeysetLocation) throws -> OpenedKeyset {
        do { return try host(of: location).load(location.path) } catch { throw Failure(error, of: location.path) }
    }

    func secret(of location: KeysetLocation, _ rows: KeysetRows) throws -> KeysetSecret? {
        guard !rows.log.state.isDemo else { return nil }
        if let given = try secrets.given() { return given }
        if let named = try settings?.secret(for: location, id: rows.log.state.id) { return named }
        guard rows.isEncrypted, let terminal = Terminal() else { return nil }
        let name = TerminalText.harmless(location.path.utf8)
        return try answer.value { try terminal.passphrase("Passphrase of \(name): ") }
    }

    func forgetPublishers() { knownPublishers.forget() }

    /// The publisher keysets of the settings' keystores, and the given one.
    func publishers(_ given: String?) -> [KeysetLocation] {
        if let given { return [location(given)] }
        // A file that can't be read is an error where it is rotated, and signs nothing here.
        return knownPublishers.value {
            present().found.filter { (try? KeysetRows(at: $0, .reading))?.log.state.kind == .publisher }
        }
    }
}
