// An app and an extension that use the examples. Only .ci/apple compiles it, in each mode that Xcode offers.
import Foundation
import PushCryptApple

@MainActor final class ExampleApp {
    private var registration: DeviceRegistration?

    func didRegister(deviceToken: Data, senders: Data) throws {
        let registration = try DeviceRegistration { _, _, _ in }
        self.registration = registration
        Task {
            try await registration.start(deviceToken: deviceToken, senders: senders)
            try await registration.renew(deviceToken: deviceToken)
            _ = try await registration.advice(at: UnixTime(0))
        }
    }
}

/// Has no `nonisolated`, as in an app that was written before Xcode 26.
final class StagedService: PushCryptNotificationService {
    override var unconfiguredText: Placeholder { .localized(title: "NEW_MESSAGE", body: nil) }

    override func configure() throws -> ExtensionConfiguration {
        var configuration = try NotificationService().configure()
        configuration.stages = [modified, ContactName { $0 }]
        configuration.unsealed = .shown(stages: [modified])
        return configuration
    }
}

/// The other choices of senders, and the other pins.
final class OtherSendersService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let pins = UnsignedSenderPins(folder: "pins")
        let choices: [SenderTrust] = [
            .unsigned, .pinned(pins), .current { () throws(FailureClass) in try pins.trustedSenders() },
        ]
        return try ExtensionConfiguration(
            topic: "com.example.app", keyring: FileKeyring(folder: "keys"), senders: choices[0],
            fallback: .outerAlert(orElse: .standard))
    }
}
