#if canImport(UserNotifications) && !os(tvOS)
import PushCryptExtension
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
///             session: .init(fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil))))
///     }
/// }
/// ```
/// Whatever happens, the system's handler is called once for each push: with the restored content or, on any failure and when
/// time runs out, with a placeholder. Nothing of what arrived outside is shown beside restored text.
open class PushCryptNotificationService: UNNotificationServiceExtension {
    private let running = Locked<[ObjectIdentifier: PushDelivery]>([:])
    /// Tests use one of their own.
    var cache = ConfigurationCache.shared

    /// Tells what to restore pushes with. Called once per process, with the first push, on the thread on which it came; what
    /// is returned serves every push after it.
    ///
    /// It has the push's own time: don't wait for the network. If it throws, ``unconfiguredText`` is shown, and the next
    /// push calls it again: before the first unlock a file may not be readable that is later. A `FailureClass` that it throws
    /// is the push's; anything else counts as `internalError`.
    open func configure() throws -> ExtensionConfiguration {
        throw ExtensionSetupError(.notConfigured, "\(type(of: self)) doesn't override configure()")
    }

    /// The app's own text for a push that comes while there is no configuration: ``configure()`` threw, or isn't done when
    /// time runs out. Nothing of the push is shown beside it.
    open var unconfiguredText: Placeholder { .standard }

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
            delivery.fail(error as? FailureClass ?? .internalError)
        }
    }

    /// Hands over the best content so far of every push that this service has in work.
    open override func serviceExtensionTimeWillExpire() {
        for delivery in running.withLock({ Array($0.values) }) { delivery.expire() }
    }

    private static func log(_ error: any Error) {
        #if canImport(os)
        Logger(subsystem: "pushcrypt", category: "extension").error(
            "no configuration: \(String(describing: type(of: error)), privacy: .public): \(String(describing: error))")
        #endif
    }
}
#endif
