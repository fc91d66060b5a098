// An app and an extension that use the examples. Only .ci/apple compiles it, in each mode that Xcode offers.
import Foundation
import PushCryptApple

/// A backend with a session on the main actor, as many apps have.
@MainActor final class Session {
    func store(_ registration: PushRegistration.Upload) async throws {}
    func senderSet() async throws -> Data { Data([1]) }
}

/// An app with pins, and with an answer to everything that the short form leaves out.
@MainActor final class ExampleApp {
    private let session = Session()
    private lazy var pushes = PushCrypt.start(
        try appGroup(),
        configuration: { group in
            try ExtensionConfiguration(
                group, senders: .pinned(group.senderPins()), fallback: .bundled(.standard))
        },
        senderSet: { [session] in try await session.senderSet() },
        responder: Conversations(open: { _ in }, send: { _, _ in }), report: { print($0) },
        upload: { [session] in try await session.store($0) })

    func didRegister(deviceToken: Data) {
        Task {
            let outcome = await pushes.received(deviceToken).value
            if pushes.advice.contains(.updateApp) || outcome?.senderSetFailure != nil { return }
            try await pushes.signOut()
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

/// Calls every function of the guides that a configuration may need: in an app whose default isolation is the main actor, they
/// are nonisolated.
final class SharedService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let group = try appGroup()
        var configuration = try sharedConfiguration(group)
        try addRecipes(to: &configuration)
        configuration.attachments = imageAddress(group)
        configuration.attachments = MigratedAttachments(group)
        configuration.stages = [DefaultBody(), PictureCategory()]
        configuration.finish = chatMessages { _ in nil }
        configuration.receipts = try deliveryReceipts()
        configuration.receipts = try systemReceipts(group)
        return configuration
    }
}

/// The other choices of senders.
final class OtherSendersService: PushCryptNotificationService {
    override func configure() throws -> ExtensionConfiguration {
        let pins = try appGroup().senderPins()
        let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
        let choices: [SenderTrust] = [
            .unsigned, try .key(key), try .key(key, until: pins), .pinned(pins),
            .current { () throws(FailureClass) in try pins.trustedSenders() },
        ]
        return try ExtensionConfiguration(
            topic: "com.example.app", keyring: FileKeyring(folder: "keys"), senders: choices[0],
            fallback: .outerAlert(orElse: .standard))
    }
}
