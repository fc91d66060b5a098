import PushCryptApple

/// How pushes are restored, in the extension and in the app. This file belongs to both targets, and the extension's
/// `configure()` returns its result.
nonisolated func sharedConfiguration(_ group: AppGroup) throws -> ExtensionConfiguration {
    let text = Placeholder.localized(title: "NEW_MESSAGE", body: nil)
    var configuration = try ExtensionConfiguration(
        group, senders: .pinned(group.senderPins()), fallback: .bundled(text))
    configuration.unlockNotice = group.unlockNotice(.localized(title: "NEW_MESSAGE", body: "UNLOCK_TO_READ"))
    return configuration
}
