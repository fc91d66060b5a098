import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct Publish: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish keysets: the signed sets that apps fetch, and public keys.",
        discussion: """
            `rotate` publishes, too. A file is written only if it differs, and a set is signed again when half of its validity \
            has passed. A set is never replaced by one of an older copy of the keyset.

            If the publisher is on another host: `publish --unsigned FILE KEYSET` here, then FILE goes there, and \
            `publish --sign FILE --to FOLDER --publisher KEYSET` there. It has no sender key, and asks before it signs new keys.

            Exit status: 0 all is published; 69 a file can't be written, or the program `after` failed; 78 a person must act; anything \
            else: see pushcrypt --help.

            Example: pushcrypt publish
            """)

    @Argument(help: .init("The keysets. (default: those of the settings)", "KEYSET")) var paths: [String] = []
    @Flag(help: "Also replace a set that has later lines and that no publisher has signed.") var replace = false
    @Option(help: .init("Write the log of one keyset for the publisher's host.", "FILE")) var unsigned: String?
    @Option(help: .init("Sign and publish the log that --unsigned wrote on another host.", "FILE")) var sign: String?
    @Option(
        name: .customLong("to"), help: .init("The folder to write into. (default: that of the settings)", "FOLDER"))
    var folder: String?
    @Option(help: .init("The publisher keyset. (default: those of the settings)", "KEYSET")) var publisher: String?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var options: HostOptions

    func validate() throws {
        guard unsigned == nil || paths.count == 1 else { throw ValidationError("--unsigned takes one KEYSET.") }
        guard unsigned == nil || sign == nil else { throw ValidationError("--unsigned and --sign are for two hosts.") }
        guard sign == nil || paths.isEmpty else { throw ValidationError("--sign takes FILE and no KEYSET.") }
        guard sign == nil || folder != nil else { throw ValidationError("--sign needs --to FOLDER.") }
        guard unsigned == nil || folder == nil && publisher == nil else {
            throw ValidationError("--unsigned only writes its FILE, so it takes no --to and no --publisher.")
        }
        guard sign != nil || !agreement.isAgreed else { throw ValidationError("--yes needs --sign.") }
    }

    func run() throws {
        let keysets = try options.keysets(servedFolder: folder)
        if let sign { return try signReceived(sign, keysets) }
        if let unsigned { return try write(unsigned, keysets) }
        guard keysets.servedFolder != nil else {
            throw Failure(.usage, "no folder is named: use --to FOLDER, or publish.to in the settings")
        }
        let all = keysets.chosen(paths)
        guard !all.found.isEmpty else {
            throw all.problems.first.map { Failure($0.error, of: $0.path) } ?? Failure(.usage, "name a keyset")
        }
        let outcomes = all.found.map { location in
            var outcome = KeysetOutcome(location)
            keysets.publish(&outcome, by: publisher, replacing: replace)
            outcome.requireSigned()
            return outcome
        }
        try keysets.finish(outcomes, asJSON: json)
    }

    private func write(_ file: String, _ keysets: HostKeysets) throws {
        let location = keysets.location(paths[0])
        do {
            let history = try keysets.host(of: location).unsigned(location.path, replacing: replace)
            try FileSystem.replace(file, with: history.file, mode: 0o600)
            let head = history.log.state.head
            try StandardStreams.write(
                "wrote \(file). On the publisher's host compare line \(head.number), \(Base64URL.encode(head.hash)):\n"
                    + "  pushcrypt publish --sign \(ShellArgument.quoted(file)) --to FOLDER --publisher KEYSET\n")
        } catch { throw Failure(error, of: location.path) }
    }

    private func signReceived(_ file: String, _ keysets: HostKeysets) throws {
        do {
            let sent = try KeysetFileError.naming(file) { try KeysetHistory(FileSystem.readFile(file)) }
            let locations = keysets.publishers(publisher)
            guard let first = locations.first else {
                throw Failure(.usage, "no publisher keyset is named: use --publisher KEYSET")
            }
            let opened = try locations.map(keysets.load)
            var outcome = KeysetOutcome(KeysetLocation(file), named: file)
            var refusal: (any Error)?
            let results: [ServedResult]
            do {
                results = try keysets.host(of: first).signReceived(sent, publishers: opened, replacing: replace) {
                    lines in
                    do { try agreement.confirm("signing \(file):", text(lines)) } catch { refusal = error }
                    return refusal == nil
                }
            } catch { throw refusal ?? error }
            for result in results {
                switch result.outcome {
                case .written: outcome.changes.append("published \(folder ?? "")/\(result.name)")
                case .removed: outcome.changes.append("removed \(folder ?? "")/\(result.name)")
                case .unchanged, .publisherElsewhere: break
                case .refused(let refusal): outcome.failures.append(Failure(refusal, of: file))
                case .failed(let error): outcome.failures.append(Failure(.unavailable, "\(Failure(error, of: file))"))
                }
            }
            try keysets.finish([outcome], asJSON: json)
        } catch let error as ExitCode { throw error } catch { throw Failure(error, of: file) }
    }

    /// What the operator compares.
    private func text(_ lines: UnsignedLines) -> [String] {
        let head = "line \(lines.head.number), \(Base64URL.encode(lines.head.hash))"
        return ["\(head): compare it with what the sending host printed"]
            + lines.keys.map { "new key \($0.kid), thumbprint \(Base64URL.encode($0.thumbprint))" }
            + lines.revoked.map { "revoked: key \($0)" }
    }
}
