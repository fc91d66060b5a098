import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// What is left to do after a key was revoked: why, and commands to paste.
struct NextSteps {
    private let path: String
    private let kind: KeyKind
    private let secrets: SecretOptions
    private let others: OtherKeys
    private let replacement: Replacement?
    private let publishing: Publishing
    /// ` --passphrase-file FILE`, or empty.
    private let secret: String
    private let topic: String

    /// How the revocation gets to apps and senders.
    enum Publishing {
        /// The program of --exec-on-change has run after it.
        case done(program: String)
        /// The program has not run, or has failed. The command runs it.
        case program(command: String)
        case byHand(isSigned: Bool)
    }

    /// - Parameters:
    ///   - metadata: of the keyset after the revocation.
    ///   - others: of the keyset before it.
    init(
        _ path: String, _ metadata: KeysetMetadata, at time: UnixTime, _ secrets: SecretOptions, _ others: OtherKeys,
        _ publishing: Publishing
    ) {
        self.path = path
        self.kind = metadata.kind
        self.secrets = secrets
        self.others = others
        self.publishing = publishing
        replacement = Replacement(in: metadata, at: time)
        secret = secrets.repeatedArguments
        topic = Defaults.topic ?? "TOPIC"
    }

    /// - Parameter state: the state that the key had.
    func afterRevoking(_ state: KeyState) -> String {
        let steps =
            [theft, publish, deliver(wasPrimary: state == .primary), Self.hasSealed.contains(state) ? queue : nil]
        let texts = steps.compactMap(\.self).enumerated().map { index, step in
            "  \(index + 1). \(step.reason)" + step.commands.map { "\n     \($0)" }.joined()
        }
        return texts.isEmpty ? "" : (["what is left to do:"] + texts).joined(separator: "\n")
    }

    /// The states in which pushes of the key may wait in a queue.
    private static let hasSealed: [KeyState] = [.primary, .retiring]

    private typealias Step = (reason: String, commands: [String])

    private var keyset: String { ShellArgument.quoted(path) }

    private var theft: Step? {
        let kept = replacement.map { "\($0.kid), which was made at \($0.madeAt) in place of a revoked key" }
        guard !others.isEmpty else {
            guard others.replacement != nil, let kept else { return nil }
            return ("Keep key \(kept), unless the keyset was stolen after that.", [])
        }
        return (
            "If the whole keyset was stolen, revoke its other keys too, except those that were made after the theft"
                + (kept.map { ". Keep \($0)" } ?? "") + ":",
            others.commands(path, secrets)
        )
    }

    private var publish: Step? {
        let isSender = kind == .sender
        switch publishing {
        case .done(let program) where isSender:
            return (
                "\(program) has run and need not run again. Apps refuse the revoked key when they have what it publishes.",
                []
            )
        case .done: return nil
        case .program(let command):
            let effect = isSender ? ": apps refuse the revoked key when they have what it publishes" : ""
            return ("Run the program that runs after changes\(effect).", [command])
        case .byHand where !isSender: return nil
        case .byHand(isSigned: true):
            return (
                "Sign and publish the new set: apps refuse the revoked key when they have it.",
                [PublishedSet.command(path, secret)]
            )
        case .byHand(isSigned: false):
            return (
                "Publish the sender keys: apps refuse the revoked key when they have them.",
                ["pushcrypt keys publish \(keyset) --to FOLDER\(secret)"]
            )
        }
    }

    private func deliver(wasPrimary: Bool) -> Step? {
        switch kind {
        case .shared:
            return (
                "Give every device its new keys; FILE has one device id on a line, and keys.jsonl will have secrets:",
                ["pushcrypt keys export \(keyset) --devices FILE\(secret) > keys.jsonl"]
            )
        case .recipient where wasPrimary:
            return (
                "Let the app register again, or give the backend the new registration record:",
                ["pushcrypt keys export \(keyset) --registration\(secret) > record.json"]
            )
        default: return nil
        }
    }

    private var queue: Step {
        // Each keyset has its own file of refused lines, because `reseal` writes only a new one. The shell empties the output
        // even if `reseal` refuses to start.
        let name = FileSystem.name(of: KeysetFolder(path).path)
        let refused = ShellArgument.quoted("refused-\(name).jsonl")
        let resealed = ShellArgument.quoted("resealed-\(name).jsonl")
        let reseal = "--topic \(topic) --errors \(refused)\(secret) < queue.jsonl > \(resealed)"
        switch kind {
        case .shared:
            return (
                "Seal the pushes that wait in a queue again; for signed pushes, add --sign-with:",
                ["pushcrypt reseal --keys \(keyset) \(reseal)"]
            )
        case .sender:
            return (
                "Sign the pushes that wait in a queue again. For recipients with shared keys, with their keyset:",
                ["pushcrypt reseal --keys Keys/NAME --sign-with \(keyset) \(reseal)"]
            )
        default:
            return ("Seal the pushes that wait in a queue again from their content, to the new record.", [])
        }
    }
}
