package import PushCryptPrimitives

/// How the private keys lie in their file.
package enum Protection: Hashable, Sendable {
    /// In clear: `--insecure-plaintext`.
    case plaintext
    /// Under a data key that a key derived from a passphrase wraps.
    case passphrase(ScryptParameters)
    /// Under a data key that an external command wraps.
    case command

    package var name: String {
        switch self {
        case .plaintext: "plain text"
        case .passphrase: "passphrase"
        case .command: "external command"
        }
    }
}
