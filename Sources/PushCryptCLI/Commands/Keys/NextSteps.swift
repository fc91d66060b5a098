import PushCryptCore
import PushCryptKeystore

/// What is left to do after a key was revoked: why, and a command to paste.
struct NextSteps {
    private let keyset: String
    private let kind: KeyKind
    /// ` --passphrase-file FILE`, or empty.
    private let secret: String
    private let topic: String

    init(_ keyset: String, _ kind: KeyKind, _ secrets: SecretOptions) {
        self.keyset = ShellArgument.quoted(keyset)
        self.kind = kind
        secret = secrets.repeatedArguments
        topic = Defaults.topic ?? "TOPIC"
    }

    /// - Parameters:
    ///   - state: the state that the key had.
    ///   - signsSet: whether the sender keys are published as a signed set.
    func afterRevoking(_ state: KeyState, signsSet: Bool) -> String {
        let steps = [publish(wasPrimary: state == .primary, signsSet)] + (Self.hasSealed.contains(state) ? [queue] : [])
        let texts = steps.compactMap(\.self).enumerated().map { index, step in
            "  \(index + 1). \(step.reason)" + (step.command.map { "\n     \($0)" } ?? "")
        }
        return texts.isEmpty ? "" : (["what is left to do:"] + texts).joined(separator: "\n")
    }

    /// The states in which pushes of the key may wait in a queue.
    private static let hasSealed: [KeyState] = [.primary, .retiring]

    private typealias Step = (reason: String, command: String?)

    private func publish(wasPrimary: Bool, _ signsSet: Bool) -> Step? {
        switch kind {
        case .sender where signsSet:
            return (
                "Sign and publish the new set: apps refuse the revoked key when they have it.",
                "pushcrypt keys publish \(keyset) --to FOLDER --signed-by Publisher/NAME\(secret)"
            )
        case .sender:
            return (
                "Publish the sender keys: apps refuse the revoked key when they have them.",
                "pushcrypt keys publish \(keyset) --to FOLDER\(secret)"
            )
        case .shared:
            return (
                "Give every device its new keys; FILE has one device id on a line, and keys.jsonl will have secrets:",
                "pushcrypt keys export \(keyset) --devices FILE\(secret) > keys.jsonl"
            )
        case .recipient where wasPrimary:
            return (
                "Let the app register again, or give the backend the new registration record:",
                "pushcrypt keys export \(keyset) --registration\(secret) > record.json"
            )
        default: return nil
        }
    }

    private var queue: Step {
        let reseal = "--topic \(topic) --errors refused.jsonl\(secret) < queue.jsonl > resealed.jsonl"
        switch kind {
        case .shared:
            return ("Seal the pushes that wait in a queue again:", "pushcrypt reseal --keys \(keyset) \(reseal)")
        case .sender:
            return (
                "Sign the pushes that wait in a queue again. For recipients with shared keys, with their keyset:",
                "pushcrypt reseal --keys Keys/NAME --sign-with \(keyset) \(reseal)"
            )
        default:
            return ("Seal the pushes that wait in a queue again from their content, to the new record.", nil)
        }
    }
}
