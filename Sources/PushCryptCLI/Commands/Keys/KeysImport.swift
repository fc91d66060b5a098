import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct KeysImport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import a private or shared key into a keyset; prints its kid.",
        discussion: """
            The file is a JWK, a JWK set of one key, PEM or DER (PKCS#8, encrypted or not, or SEC 1), or one line of \
            base64 with the 32 bytes of a private key or a secret. A JWK of another tool may lack kid and alg, or have its \
            own kid and the alg of such keys, ECDH-ES or A256GCM: both are computed. In a new keyset the key is primary. In an \
            existing keyset it is the next key and seals after the policy's publishLead. A key that is or was in the keyset is \
            refused, even if it is revoked or destroyed.

            Example: pushcrypt keys import Keys/backend signing-key.pem --key-passphrase-file passphrase
            """)

    @Argument(help: .init("The keyset, new or existing.", "KEYSET")) var path: String
    @Argument(help: .init("The file with the key: a JWK, PEM, DER or base64; - is stdin.", "FILE|-")) var file: String
    @Option(
        help: .init(
            "The kind of a key in base64; another file must contain this kind. An Ed25519 key in PEM or DER is a sender's unless this is publisher.",
            "recipient|sender|shared|publisher"))
    var kind: KeyKind?
    @Option(
        help: .init(
            "The suite of a recipient key in base64; another file must contain such a key.", "p256|x25519|xwing"))
    var suite: KeyPairType?
    @Option(help: .init("The passphrase of an encrypted PKCS#8 file.", "FILE")) var keyPassphraseFile: String?
    @Flag(name: .customLong("insecure-plaintext"), help: "Write a new keyset's private keys unencrypted.")
    var allowsPlaintext = false
    @OptionGroup var options: HostOptions

    func validate() throws {
        guard suite == nil || kind == nil || kind == .recipient else {
            throw ValidationError("--suite needs --kind recipient.")
        }
    }

    func run() throws {
        let record = try importedRecord()
        let keysets = try options.keysets()
        let location = keysets.location(path)
        guard FileSystem.exists(location.path) else {
            return try keysets.create(location, record, allowsPlaintext: allowsPlaintext)
        }
        guard !allowsPlaintext else {
            throw Failure(.usage, "\(location) exists, and an import changes no secrets: omit --insecure-plaintext")
        }
        try keysets.change(location, kid: record.kid) { host, _ in try host.importKey(location.path, record) }
    }

    private func importedRecord() throws -> KeyRecord {
        let input = try file == "-" ? nil : FileSystem.openInput(file)
        var bytes = try input?.readAll() ?? StandardStreams.readAll(limit: 1 << 20)
        defer { wipe(&bytes) }
        let keyset: Keyset
        do {
            keyset = try read(bytes)
        } catch {
            let failure = Failure(error)
            throw Failure(failure.status, "\(file): \(failure.message)\(Self.advice(error))")
        }
        guard keyset.entries.count == 1 else {
            throw Failure(.dataError, "\(file) contains \(keyset.entries.count) keys; import one key at a time")
        }
        guard !DemoKeys.contains(keyset) else {
            throw Failure(.usage, "\(file) contains a published demo key, which protects nothing")
        }
        // A pipe has no mode to check.
        if let status = try input?.status(), status.kind == .file {
            try status.access.check(.ownerOrRootsGroup, file)
        }
        let record = keyset.entries[0].record
        try refuseContradiction(of: record)
        return record
    }

    private static func advice(_ error: any Error) -> String {
        switch error {
        case let error as KeystoreError where error.code == .secretNeeded: " (--key-passphrase-file FILE)"
        case let error as KeyError where error.code == .wrongKind: ": give --kind, and --suite for a recipient key"
        default: ""
        }
    }

    private func read(_ bytes: [UInt8]) throws -> Keyset {
        guard let keyPassphraseFile else { return try ImportedKey.read(bytes, rawKind: rawKind, passphrase: nil) }
        do {
            let keyset = try ImportedKey.read(bytes, rawKind: rawKind, passphrase: nil)
            StandardStreams.writeNote("\(file) is not encrypted, so --key-passphrase-file has no effect")
            return keyset
        } catch let error as KeystoreError where error.code == .secretNeeded {
            let passphrase = try KeysetSecret.passphrase(from: keyPassphraseFile).passphraseBytes
            return try ImportedKey.read(bytes, rawKind: rawKind, passphrase: passphrase)
        }
    }

    /// The file contains the kind and the curve of a key, except those of a raw one.
    private func refuseContradiction(of record: KeyRecord) throws {
        if let kind, kind != record.kind {
            throw Failure(
                .usage,
                "\(file) contains a \(record.kind.rawValue) key (\(record.algorithm)), not a \(kind.rawValue) key "
                    + "(--kind)")
        }
        if let suite, suite != record.algorithm.keyPairType {
            throw Failure(.usage, "\(file) contains a key of another suite (\(record.algorithm)) than --suite")
        }
    }

    private var rawKind: ImportedKey.RawKind? {
        switch kind {
        case .recipient?: .recipient(suite ?? .p256)
        case .sender?: .sender
        case .shared?: .shared
        case .publisher?: .publisher
        default: nil
        }
    }
}
