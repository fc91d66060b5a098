import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct KeysExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print keys of a keyset: by default its public JWK set.",
        discussion: """
            With KID, --format or --private it prints one key: the primary key, or that of KID. It prints the public key or, with \
            --private, the private key or shared secret. A private PEM or DER is encrypted with a passphrase from \
            --new-passphrase-file or the terminal. To print a private key unencrypted, add --insecure-plaintext. Use umask 077 \
            for files with secrets.

            With --pins it prints what an app bundles to verify the signed sets of a sender keyset. The signed sets are written \
            by `pushcrypt publish`.

            Example: pushcrypt keys export Keys/backend > sender-keys.json
            """)

    @Argument(help: .init("The keyset.", "KEYSET")) var path: String
    @Argument(help: .init("The key: its id, or its first 4 or more characters. (default: the primary)", "KID"))
    var kid: KeyIDPrefix?
    @Option(help: .init("One key in this format; raw is base64 of its bytes.", "jwk|pem|der|raw"))
    var format: ExportedKey.Form?
    @Flag(name: .customLong("private"), help: "The private key or the shared secret.") var isPrivate = false
    @Option(help: .init("Encrypt a private PEM or DER with this passphrase.", "FILE")) var newPassphraseFile: String?
    @Flag(name: .customLong("insecure-plaintext"), help: "Print the private key unencrypted.")
    var allowsPlaintext = false
    @Flag(help: "The primary recipient key's registration record. Its psk is a secret of app and backend.")
    var registration = false
    @Option(
        parsing: .unconditional, help: .init("The keys of one device of a shared keyset, a secret of the device.", "ID")
    )
    var device: String?
    @Flag(help: "What an app bundles to verify the signed sets of this sender keyset.") var pins = false
    @Option(help: .init("The epoch of the pins, if the keyset has two.", "N")) var epoch: Int64?
    @Option(help: .init("The publisher of the pins. (default: those of the settings)", "KEYSET")) var publisher: String?
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var isOneKey: Bool { format != nil || kid != nil || isPrivate }

    func validate() throws {
        guard [isOneKey, registration, device != nil, pins].count(where: \.self) <= 1 else {
            throw ValidationError(
                "Use only one of --registration, --device, --pins, and the options of one key (KID, --format, --private)."
            )
        }
        guard pins || (epoch == nil && publisher == nil) else {
            throw ValidationError("--epoch and --publisher need --pins.")
        }
        guard isPrivate || (newPassphraseFile == nil && !allowsPlaintext) else {
            throw ValidationError("--new-passphrase-file and --insecure-plaintext need --private.")
        }
    }

    func run() throws {
        let keysets = try HostKeysets(keystores, at: times.time, secrets)
        let location = keysets.location(path)
        do {
            var bytes = try exported(location, keysets)
            defer { wipe(&bytes) }
            if format == .der { try StandardStreams.write(bytes) } else { try StandardStreams.writeLine(bytes) }
        } catch { throw Failure(error, of: location.path) }
    }

    private func exported(_ location: KeysetLocation, _ keysets: HostKeysets) throws -> [UInt8] {
        guard !pins else {
            return try keysets.load(location).pins(epoch: epoch) { id in
                let all = keysets.publishers(publisher)
                let named = try publisher != nil ? all : all.filter { try keysets.state(of: $0).id == id }
                return try named.first.map(keysets.load)
            }
        }
        if let device = try DeviceID(option: device) {
            let keyset = try Keyset(keysets.load(location))
            try keyset.requireKind(.shared)
            let opening = try keyset.filter { keyset.state(of: $0.record.kid, at: times.time)?.opens ?? false }
            return try opening.device(device).jwkSet(withHistory: false)
        }
        guard isPrivate || registration else {
            let keyset = try keysets.host(of: location).publicKeys(location.path)
            guard isOneKey else { return try keyset.jwkSet(withHistory: false) }
            return try ExportedKey.publicKey(entry(of: keyset, location).record, as: format ?? .jwk)
        }
        let keyset = try Keyset(keysets.load(location))
        guard registration else { return try privateKey(entry(of: keyset, location)) }
        try keyset.requireKind(.recipient)
        let record = try keyset.sealingEntry(at: times.time).record.publicRecord(keepingPSK: true)
        return try ExportedKey.privateKey(record, as: .jwk, passphrase: nil)
    }

    private func entry(of keyset: Keyset, _ location: KeysetLocation) throws -> Keyset.Entry {
        guard let kid = try kid?.kid(among: keyset.keyIDs, of: location.path) else {
            return try keyset.sealingEntry(at: times.time)
        }
        guard let entry = keyset.entry(kid) else { throw KeystoreRefusal.unknownKey(kid) }
        return entry
    }

    private func privateKey(_ entry: Keyset.Entry) throws -> [UInt8] {
        let form = format ?? .jwk
        if entry.demandsPSK, form != .jwk {
            StandardStreams.writeNote("key \(entry.record.kid) has a psk, which only a JWK contains")
        }
        return try ExportedKey.privateKey(entry.record, as: form, passphrase: exportPassphrase())
    }

    private func exportPassphrase() throws -> SecretBytes? {
        let canEncrypt = format == .pem || format == .der
        guard !allowsPlaintext else {
            guard newPassphraseFile == nil else {
                throw Failure(.usage, "give --new-passphrase-file or --insecure-plaintext, not both")
            }
            return nil
        }
        guard canEncrypt else {
            throw Failure(
                .usage,
                "a private \((format ?? .jwk).rawValue) can't be encrypted: to print it, add --insecure-plaintext")
        }
        if let newPassphraseFile {
            return try KeysetSecret.passphrase(from: newPassphraseFile).asNew().passphraseBytes
        }
        guard let terminal = Terminal() else {
            throw Failure(.usage, "a private key needs --new-passphrase-file or --insecure-plaintext")
        }
        return try terminal.newPassphrase().passphraseBytes
    }
}

extension ExportedKey.Form: ExpressibleByArgument {}
