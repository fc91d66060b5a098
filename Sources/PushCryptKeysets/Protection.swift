/// What wraps the key of an encrypted keyset.
package enum Protection: Hashable, Sendable {
    /// A key that is derived from a passphrase.
    case passphrase
    /// An external command.
    case command

    /// One of the secrets of a keyset. Each of them opens the keys.
    package struct Named: Hashable, Sendable {
        package let name: SecretName
        package let protection: Protection

        package var text: String { "\(name) (\(protection.name))" }
    }

    package var name: String {
        switch self {
        case .passphrase: "passphrase"
        case .command: "external command"
        }
    }
}
