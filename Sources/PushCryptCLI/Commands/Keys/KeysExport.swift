import ArgumentParser
import PushCryptCore
import PushCryptPrimitives

struct KeysExport: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Print what others need of a keyset: by default its public JWK set.")

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @Flag(help: "The primary recipient key's registration record, psk included: a secret between app and backend.")
    var registration = false

    @Option(help: ArgumentHelp("Of a shared keyset: that device's own keys, a secret of the device.", valueName: "ID"))
    var device: String?

    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard !(registration && device != nil) else {
            throw ValidationError("--registration belongs to recipient keys, --device to shared keys.")
        }
    }

    func run() throws {
        var bytes = try exported()
        defer { wipe(&bytes) }
        try StandardStreams.writeLine(bytes)
    }

    private func exported() throws -> [UInt8] {
        let source = try KeySource(path, secrets)
        let (keyset, time) = (source.keyset, timeOptions.time)
        if registration {
            guard keyset.kind == .recipient else {
                throw Failure(
                    .usage, "--registration belongs to recipient keys; these are \(keyset.kind.rawValue) keys")
            }
            return try registrationRecord(keyset.sealingEntry(at: time))
        }
        if keyset.kind == .shared || device != nil {
            guard let id = try DeviceID(option: device) else {
                throw Failure(.usage, "a shared keyset has nothing public: --device ID exports one device's own keys")
            }
            return try source.forDevice(id).filter { entry in
                [.pending, .primary, .retiring].contains(keyset.state(of: entry.record.kid, at: time))
            }.jwkSet(withHistory: false)
        }
        return try keyset.publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    }

    private func registrationRecord(_ entry: Keyset.Entry) throws -> [UInt8] {
        var record = [UInt8]()
        record.reserveCapacity(KeyRecord.maximumJWKByteCount)
        try entry.record.publicRecord(keepingPSK: true).appendJWK(to: &record)
        return record
    }
}
