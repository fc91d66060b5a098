import PushCryptExtension
import PushCryptPrimitives

/// What `configure()` made, kept for each class of services. The system makes a service for every push, mostly in the same
/// process: keys and store are opened once.
final class ConfigurationCache: Sendable {
    /// Of the process: nothing shorter-lived outlasts a push.
    static let shared = ConfigurationCache()

    private let kept = Locked<[ObjectIdentifier: ExtensionConfiguration]>([:])

    /// - Parameter make: called until it succeeds once. Not under the lock, because one that hangs must not hold up the next
    ///   push: of two at the same time the first result is kept.
    func configuration(
        of service: AnyClass, make: () throws -> ExtensionConfiguration
    ) rethrows -> ExtensionConfiguration {
        let id = ObjectIdentifier(service)
        if let configuration = kept.withLock({ $0[id] }) { return configuration }
        let made = try make()
        return kept.withLock { kept in
            let configuration = kept[id] ?? made
            kept[id] = configuration
            return configuration
        }
    }
}
