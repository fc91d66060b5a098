import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct KeysExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print keys of a keyset: by default its public JWK set.",
        discussion: """
            With --format, --kid or --private it prints one key: the primary key, or the key of --kid. It prints the public \
            key or, with --private, the private key or shared secret. A private PEM or DER is encrypted with a passphrase \
            from --export-passphrase-file or the terminal. To print a private key unencrypted, add \
            --insecure-plaintext. Use umask 077 for files with secrets. Keys/NAME/public.jwks.json contains the same public \
            set. Sets and JWKs are always JSON. With --json the other formats are printed as an object with kid, format, \
            private and value; a DER is in base64.

            With --devices it prints one line for each device: {"device": ID, "keyset": SET}, where SET is what --device \
            prints. A line of FILE that is no device id is skipped and reported; the exit status is then 65.

            With --signed-by it prints the signed set of a sender keyset, which depends only on the two keysets. With \
            --pins-for it prints what an app bundles to verify that set; the exported keyset is then the publisher's. \
            --publisher-passphrase-file, -fd and --publisher-wrap-command name the publisher keyset's secret if the two \
            keysets have different ones.

            Example: pushcrypt keys export Keys/backend > sender-keys.json
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Flag(help: "The primary recipient key's registration record. Its psk is a secret of app and backend.")
    var registration = false
    @Option(
        parsing: .unconditional, help: .init("The keys of one device of a shared keyset, a secret of the device.", "ID")
    )
    var device: String?
    @Option(
        help: .init("The keys of many devices of a shared keyset: a file with one device id on a line.", "FILE|-"))
    var devices: String?
    @Option(help: .init("One key in this format; raw is base64 of its bytes.", "jwk|pem|der|raw"))
    var format: ExportedKey.Form?
    @Option(
        parsing: .unconditional,
        help: .init("The key: its id, or its first 4 or more characters. (default: the primary)", "KID"))
    var kid: KeyIDPrefix?
    @Flag(name: .customLong("private"), help: "The private key or the shared secret.") var isPrivate = false
    @Option(help: .init("Encrypt a private PEM or DER with this passphrase.", "FILE")) var exportPassphraseFile: String?
    @Flag(name: .customLong("insecure-plaintext"), help: "Print the private key unencrypted.")
    var allowsPlaintext = false
    @Flag(help: "Print JSON in every format.") var json = false
    @OptionGroup var timeOptions: TimeOptions
    @Option(
        help: .init("Print what an app bundles to verify the signed set of this sender keyset.", "Keys/NAME"))
    var pinsFor: String?
    @OptionGroup(title: "Signed sender sets") var publisher: PublisherOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !(registration && device != nil) else {
            throw ValidationError("--registration and --device can't be combined: they need different kinds of keys.")
        }
        let isOneKey = format != nil || kid != nil || isPrivate
        guard devices == nil || !(isOneKey || registration || device != nil) else {
            throw ValidationError(
                "--devices can't be combined with --registration, --device, --format, --kid or --private.")
        }
        guard !isOneKey || !(registration || device != nil) else {
            throw ValidationError("--registration and --device can't be combined with --format, --kid or --private.")
        }
        let isSignedSet = publisher.signedBy != nil || pinsFor != nil
        guard publisher.signedBy == nil || pinsFor == nil else {
            throw ValidationError("Use only one of --signed-by and --pins-for.")
        }
        guard isSignedSet || !publisher.hasSecret else {
            throw ValidationError("\(PublisherOptions.secretNames) need --signed-by or --pins-for.")
        }
        guard !isSignedSet || !(isOneKey || registration || device != nil || devices != nil || json) else {
            throw ValidationError(
                "--signed-by and --pins-for can't be combined with --registration, --device, --devices, --format, --kid, "
                    + "--private or --json.")
        }
        guard isPrivate || (exportPassphraseFile == nil && !allowsPlaintext) else {
            throw ValidationError("--export-passphrase-file and --insecure-plaintext need --private.")
        }
    }

    func run() throws {
        if let devices {
            return try DeviceExport(source().keyset, at: timeOptions.time).printAll(in: devices)
        }
        var bytes = try exported()
        defer { wipe(&bytes) }
        if format == .der, !json { try StandardStreams.write(bytes) } else { try StandardStreams.writeLine(bytes) }
    }

    private func exported() throws -> [UInt8] {
        let expectation = (keyset: path, state: expected.state)
        if let pinsFor {
            return try publisher.withSet(of: pinsFor, by: path, secrets, expectation) { try $0.pins() }
        }
        if let signedBy = publisher.signedBy {
            return try publisher.withSet(of: path, by: signedBy, secrets, expectation) {
                try $0.document(epoch: publisher.epoch, at: timeOptions.time)
            }
        }
        if format != nil || kid != nil || isPrivate { return try oneKey() }
        if let device = try DeviceID(option: device) {
            return try DeviceExport(source().keyset, at: timeOptions.time).set(of: device)
        }
        return try registration ? registrationRecord(source().keyset) : publicSet()
    }

    /// Derived from the private keys: an attacker could have replaced the public file.
    private func publicSet() throws -> [UInt8] {
        let keyset = try source().keyset
        guard keyset.kind != .shared else {
            throw Failure(
                .usage, "a shared keyset has no public keys: use --device ID to export the keys of one device")
        }
        return try keyset.publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    }

    private func source() throws -> KeySource {
        try KeySource(path, secrets.source(of: path).expecting(expected.state))
    }

    private func registrationRecord(_ keyset: Keyset) throws -> [UInt8] {
        guard keyset.kind == .recipient else {
            throw Failure(.usage, "--registration needs recipient keys; these are \(keyset.kind.rawValue) keys")
        }
        var record = [UInt8]()
        record.reserveCapacity(KeyRecord.maximumJWKByteCount)
        try keyset.sealingEntry(at: timeOptions.time).record.publicRecord(keepingPSK: true).appendJWK(to: &record)
        return record
    }

    private func oneKey() throws -> [UInt8] {
        let keyset = try source().keyset
        let entry: Keyset.Entry
        if let kid = try kid?.kid(among: keyset.keyIDs, of: path) {
            guard let named = keyset.entry(kid) else { throw Failure(.noInput, "\(path): no key \(kid)") }
            entry = named
        } else {
            entry = try keyset.sealingEntry(at: timeOptions.time)
        }
        var bytes = try exported(entry)
        guard json, let format, format != .jwk else { return bytes }
        defer { wipe(&bytes) }
        return format.json(bytes, of: entry.record.kid, isPrivate: isPrivate)
    }

    private func exported(_ entry: Keyset.Entry) throws -> [UInt8] {
        let form = format ?? .jwk
        guard isPrivate else { return try ExportedKey.publicKey(entry.record, as: form) }
        if entry.demandsPSK, form != .jwk {
            StandardStreams.writeNote("key \(entry.record.kid) has a psk, which only a JWK contains")
        }
        return try ExportedKey.privateKey(entry.record, as: form, passphrase: exportPassphrase())
    }

    private func exportPassphrase() throws -> SecretBytes? {
        let canEncrypt = format == .pem || format == .der
        guard !allowsPlaintext else {
            guard exportPassphraseFile == nil else {
                throw Failure(.usage, "give --export-passphrase-file or --insecure-plaintext, not both")
            }
            return nil
        }
        guard canEncrypt else {
            throw Failure(
                .usage,
                "a private \((format ?? .jwk).rawValue) can't be encrypted: to print it, add --insecure-plaintext")
        }
        if let exportPassphraseFile {
            return try KeysetSecret.passphraseFile(exportPassphraseFile).asNew().passphraseBytes
        }
        guard let terminal = Terminal() else {
            throw Failure(.usage, "a private key needs --export-passphrase-file or --insecure-plaintext")
        }
        return try terminal.newPassphrase().passphraseBytes
    }
}

extension ExportedKey.Form: ExpressibleByArgument {
    /// ```
    /// {"kid": KID, "format": "pem" | "der" | "raw", "private": true | false, "value": the PEM's text or base64}
    /// ```
    /// The caller wipes the result.
    fileprivate func json(_ bytes: [UInt8], of kid: KeyID, isPrivate: Bool) -> [UInt8] {
        var value = self == .der ? Base64.encode(bytes.bytes) : bytes
        defer { wipe(&value) }
        var json = [UInt8]()
        json.reserveCapacity(96 + 2 * value.count)
        json += #"{"kid":"\#(kid)","format":"\#(rawValue)","private":\#(isPrivate),"value":""#.utf8
        // PEM contains no character that JSON escapes except line feeds. JSONWriter would leave a copy unwiped.
        for byte in value {
            if byte == UInt8(ascii: "\n") { json += #"\n"#.utf8 } else { json.append(byte) }
        }
        json += #""}"#.utf8
        return json
    }
}
