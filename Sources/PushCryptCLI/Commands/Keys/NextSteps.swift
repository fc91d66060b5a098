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
    /// ` --passphrase-file FILE`, or empty.
    private let secret: String
    private let topic: String

    init(_ path: String, _ kind: KeyKind, _ secrets: SecretOptions, _ others: OtherKeys) {
        self.path = path
        self.kind = kind
        self.secrets = secrets
        self.others = others
        secret = secrets.repeatedArguments
        topic = Defaults.topic ?? "TOPIC"
    }

    /// - Parameters:
    ///   - state: the state that the key had.
    ///   - signsSet: whether the sender keys are published as a signed set.
    func afterRevoking(_ state: KeyState, signsSet: Bool) -> String {
        let steps =
            [theft, publish(wasPrimary: state == .primary, signsSet)] + (Self.hasSealed.contains(state) ? [queue] : [])
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
        guard !others.isEmpty else { return nil }
        return (
            "If the whole keyset was stolen, revoke its other keys too, except those that were made after the theft:",
            others.commands(path, secrets)
        )
    }

    private func publish(wasPrimary: Bool, _ signsSet: Bool) -> Step? {
        switch kind {
        case .sender where signsSet:
            return (
                "Sign and publish the new set: apps refuse the revoked key when they have it.",
                [PublishedSet.command(path, secret)]
            )
        case .sender:
            return (
                "Publish the sender keys: apps refuse the revoked key when they have them.",
                ["pushcrypt keys publish \(keyset) --to FOLDER\(secret)"]
            )
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
