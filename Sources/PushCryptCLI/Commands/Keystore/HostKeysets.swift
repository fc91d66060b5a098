import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

/// The keysets of a host and what the settings say about them.
struct HostKeysets {
    /// nil without settings.
    let settings: Settings?
    let time: UnixTime
    let secrets: SecretOptions
    private let confirmsClock: Bool
    private let triesAllSecrets: Bool
    /// nil if nothing is published.
    let servedFolder: String?
    private let typed = TypedPassphrases()
    private let knownPublishers = Remembered<[KeysetLocation]>()

    /// - Parameters:
    ///   - options: nil for a command without them.
    ///   - served: in place of the settings' folder.
    ///   - triesAllSecrets: whether a keyset that the given secret doesn't open has the one of the settings.
    init(
        _ options: KeystoreOptions?, confirmsClock: Bool = false, at time: UnixTime, _ secrets: SecretOptions,
        servedFolder: String? = nil, triesAllSecrets: Bool = false
    ) throws {
        let isNamed = options?.settingsFile != nil || ProcessEnvironment.has("PUSHCRYPT_SETTINGS")
        do { settings = try Settings.find(options?.settingsFile) } catch let error as SettingsError
            where error.code == .foreignOwner && !isNamed
        {
            // The caller's keysets can be elsewhere.
            StandardStreams.writeNote("works without settings: " + Failure(error, of: "the settings").message)
            settings = nil
        } catch { throw Failure(error, of: "the settings") }
        self.time = time
        self.secrets = secrets
        self.servedFolder = servedFolder ?? settings?.publishTo
        self.confirmsClock = confirmsClock
        self.triesAllSecrets = triesAllSecrets
    }

    /// The account and, with sudo, the account that called it.
    static var actor: String {
        let caller = ProcessEnvironment.variable("SUDO_USER").map { " (sudo by \($0))" } ?? ""
        let text = TerminalText.harmless((ProcessEnvironment.accountName + caller).utf8)
        // At most 256 bytes.
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(64)))
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
        guard let keystore = free ?? settings.keystores.first else { return [] }
        let names = Set(found.map(\.name))
        return settings.expected.filter { !names.contains($0) }.map { KeysetLocation("\(keystore)/\($0)") }
    }

    /// What this host has seen of a keyset; nil for nothing, as of a keyset that the settings don't have.
    func histories(of location: KeysetLocation) -> HistoryFolder? {
        guard !has(location) else { return HistoryFolder.standard(given: settings?.history) }
        return ProcessEnvironment.variable("PUSHCRYPT_HISTORY").map(HistoryFolder.init)
    }

    /// - Parameter source: whose secret opens the keyset; nil for its own.
    func host(
        of location: KeysetLocation, secretOf source: KeysetLocation? = nil
    ) throws -> KeystoreHost<FileStorage> {
        try host(of: location) { try secret(of: source ?? $0, $1) }
    }

    func host(
        of location: KeysetLocation, secret: @escaping (KeysetLocation, KeysetRows) throws -> KeysetSecret?
    ) throws -> KeystoreHost<FileStorage> {
        try KeystoreHost(
            storage(of: location, secret: secret), name: Writer.ofThisHost(), who: Self.actor, clock: time,
            confirmsClock: confirmsClock)
    }

    func storage(
        of location: KeysetLocation, secret: @escaping (KeysetLocation, KeysetRows) throws -> KeysetSecret?
    ) -> FileStorage {
        FileStorage(histories: histories(of: location), servedFolder: servedFolder, secret: secret)
    }

    /// Reads a keyset that the command doesn't change, such as a publisher.
    ///
    /// - Throws: `Failure` that names the keyset.
    func load(_ location: KeysetLocation) throws -> OpenedKeyset {
        // A restoration is given the secret of a copy.
        let hasOwn = triesAllSecrets && has(location)
        let host = try host(of: location) { [settings] in
            try hasOwn ? settings?.secret(for: $0, id: $1.log.state.id) : secret(of: $0, $1)
        }
        do { return try host.load(location.path) } catch { throw Failure(error, of: location.path) }
    }

    func secret(of location: KeysetLocation, _ rows: KeysetRows) throws -> KeysetSecret? {
        guard !rows.log.state.isDemo else { return nil }
        if let named = try namedSecret(of: location, rows.log.state.id) {
            guard triesAllSecrets, try secrets.given() != nil, has(location), (try? rows.unlocked(named)) == nil else {
                return named
            }
            return try settings?.secret(for: location, id: rows.log.state.id) ?? named
        }
        guard rows.isEncrypted, let terminal = Terminal() else { return nil }
        let name = TerminalText.harmless(location.path.utf8)
        return try typed.passphrase(of: rows.log.state.id) { try terminal.passphrase("Passphrase of \(name): ") }
    }

    /// The publishers of a keyset's epochs that are at hand. A publisher has a keystore of its own, so that of the keyset comes last.
    ///
    /// - Parameter given: the only one; nil for those of the settings.
    func signers(
        of state: KeysetState, at location: KeysetLocation, _ given: String? = nil
    ) throws -> [(location: KeysetLocation, log: KeysetLog)] {
        var wanted = Set(state.epochs.values)
        guard !wanted.isEmpty || given == nil else { throw KeystoreRefusal.epochNeeded([]) }
        guard !wanted.isEmpty else { return [] }
        let own = FileSystem.resolvedPath(location.keystore)
        let found = given.map { [self.location($0)] } ?? present().found
        let isOwn = { (other: KeysetLocation) in FileSystem.resolvedPath(other.keystore) == own }
        var signers: [(location: KeysetLocation, log: KeysetLog)] = []
        for other in found.filter({ !isOwn($0) }) + found.filter(isOwn) where !wanted.isEmpty {
            // A file that can't be read is an error where it is rotated, and signs nothing here.
            let log =
                given == nil ? (try? KeysetRows(at: other, .reading))?.log : try KeysetRows(at: other, .reading).log
            if let log, wanted.remove(log.state.id) != nil { signers.append((other, log)) }
        }
        return signers
    }

    /// The secret that an option, the environment or the settings name.
    func namedSecret(of location: KeysetLocation, _ id: KeysetID) throws -> KeysetSecret? {
        if let given = try secrets.given()?.of(location, id) { return given }
        return has(location) ? try settings?.secret(for: location, id: id) : nil
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

/// Each keyset is asked for once: a publisher and the keysets that it signs have different passphrases.
private final class TypedPassphrases {
    private var known: [KeysetID: KeysetSecret] = [:]

    func passphrase(of id: KeysetID, _ ask: () throws -> KeysetSecret) rethrows -> KeysetSecret {
        let passphrase = try known[id] ?? ask()
        known[id] = passphrase
        return passphrase
    }
}
