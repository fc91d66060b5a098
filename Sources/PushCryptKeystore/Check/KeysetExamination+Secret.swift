import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// Checks the secret of encrypted keys, and how the keys are protected.
extension KeysetExamination {
    mutating func examineSecret(_ file: KeysetFile) {
        let source = context.secret(snapshot.path)
        if let error = file.metadata.unsupportedSuite {
            if file.protection != .plaintext { secret = .unchecked }
            refusal = Refusal(reason: error.reason, host: nil)
            return add(.error, "unsupported-suite", error.reason, advice: Verification.updateLibrary)
        }
        if file.protection != .plaintext { secret = source == nil ? .unchecked : .unusable }
        do {
            stored = secret == .unchecked ? nil : try file.unlocked(source ?? .none, evenIfOlder: true)
            if secret == .unusable { secret = .right }
        } catch {
            refusal = Refusal(reason: "\(error)", host: nil)
            report(secretError: error, of: source, file.protection)
        }
    }

    private mutating func report(
        secretError error: any Error, of source: SecretSource?, _ protection: Protection
    ) {
        let known = error as? KeystoreError
        switch known?.code {
        case .notEncrypted?: add(.error, "not-encrypted", "\(error)", advice: restore)
        case .damaged?: add(.error, "damaged", known?.fault ?? "\(error)", advice: restore)
        default:
            if known?.code == .wrongSecret { secret = .wrong }
            add(
                .error, "secret",
                "the secret of the private keys can't be used: \(known?.cause?.fault ?? "\(error)")",
                advice: Self.advice(onSecret: known, of: source, protection))
        }
    }

    private static func advice(
        onSecret error: KeystoreError?, of source: SecretSource?, _ protection: Protection
    ) -> String {
        if let file = error?.cause {
            if let correction = file.correction { return correction }
            if file.code == .notFound { return "put the passphrase into \(file.path), or name another file" }
        }
        // The command line has an error of its own for a secret that isn't given.
        guard let error, let source else { return Verification.giveTheSecret }
        guard error.code == .secretNeeded else {
            return "give the right one: without it no key can be added, and nothing is sealed or signed"
        }
        guard (try? source.secret()) != nil else { return "correct the passphrase, or name another source of it" }
        return switch protection {
        case .passphrase: "give its passphrase with --passphrase-file or --passphrase-fd"
        case .command: "give its command with --wrap-command"
        default: Verification.giveTheSecret
        }
    }

    mutating func examineProtection(_ protection: Protection) {
        if protection == .plaintext {
            add(
                .warning, "plain-text",
                "the private keys are not encrypted: a user who can read the file or a copy has them",
                advice: change("keys passwd"))
        }
        for (name, protection) in protection.secrets {
            guard case .passphrase(let parameters) = protection, Self.cost(parameters) < Self.cost(.standard) else {
                continue
            }
            add(
                .warning, "weak-scrypt",
                "the passphrase\(name.map { " \($0)" } ?? "") is cheap to guess: scrypt with N \(parameters.n), "
                    + "r \(parameters.r), p \(parameters.p)",
                advice: name.map {
                    change("keys secrets add", then: " --name NAME  # then remove \($0) with keys secrets remove")
                } ?? change("keys passwd"))
        }
    }

    private static func cost(_ parameters: ScryptParameters) -> Int { parameters.n * parameters.r * parameters.p }
}
