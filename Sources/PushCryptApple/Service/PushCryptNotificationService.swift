#if canImport(UserNotifications) && !os(tvOS)
public import PushCryptExtension
import PushCryptPrimitives
public import UserNotifications

#if canImport(os)
import os
#endif

/// The notification service extension of an app whose pushes are sealed. Subclass it and override ``configure()``; the rest
/// is done:
///
/// ```swift
/// final class NotificationService: PushCryptNotificationService {
///     override func configure() throws -> ExtensionConfiguration {
///         try ExtensionConfiguration(
///             topic: "com.example.app", keyring: keyring, senders: .pinned(senders),
///             fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))
///     }
/// }
/// ```
/// Whatever happens, the system's handler is called once for each push: with the restored content or, on any failure and when
/// time runs out, with a placeholder. Nothing of what arrived outside is shown beside restored text.
open class PushCryptNotificationService: UNNotificationServiceExtension {
    private let running = Locked<[ObjectIdentifier: PushDelivery]>([:])
    /// Tests use another one.
    var cache = ConfigurationCache.shared

    /// Returns how pushes are restored. Called once per process, with the first push and on its thread; the result serves every
    /// later push.
    ///
    /// It uses up the push's own time: don't wait for the network. If it throws, ``unconfiguredText`` is shown, and the next
    /// push calls it again: a file that can't be read before the first unlock may be readable later. A `FailureClass` that
    /// it throws becomes the push's; any other error counts as `internalError`.
    open func configure() throws -> ExtensionConfiguration {
        throw ExtensionSetupError(.notConfigured, "\(type(of: self)) doesn't override configure()")
    }

    /// The app's own text for a push without a configuration: ``configure()`` threw, or hadn't returned when time ran out.
    /// Nothing of the push is shown beside it.
    open var unconfiguredText: Placeholder { .standard }

    /// Restores the push and calls the handler once.
    open override func didReceive(
        _ request: UNNotificationRequest, withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let delivery = PushDelivery(
            payload: UserInfoJSON.json(request.content.userInfo), unconfiguredText: unconfiguredText,
            handler: contentHandler,
            ended: { [running] delivery in
                running.withLock { $0[ObjectIdentifier(delivery)] = nil }
            })
        running.withLock { $0[ObjectIdentifier(delivery)] = delivery }
        do {
            try delivery.start(cache.configuration(of: type(of: self), make: configure))
        } catch {
            Self.log(error)
            delivery.end(error as? FailureClass ?? .internalError)
        }
    }

    /// Hands over the best content so far of every push that this service is working on.
    open override func serviceExtensionTimeWillExpire() {
        for delivery in running.withLock({ Array($0.values) }) { delivery.end(.timedOut) }
    }

    private static func log(_ error: any Error) {
        #if canImport(os)
        Logger(subsystem: "pushcrypt", category: "extension").error(
            "no configuration: \(String(describing: type(of: error)), privacy: .public): \(String(describing: error))")
        #endif
    }
}

/// The configurations of a process, one for each class of services. The system makes a service for every push, mostly in
/// the same process: keys and store are opened once.
final class ConfigurationCache: Sendable {
    /// One for the process: a service ends with its push.
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
#endif
