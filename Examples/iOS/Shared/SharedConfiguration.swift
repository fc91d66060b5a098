import PushCryptApple

// This file belongs to the app and to its extensions.

/// The folder and the keys that they share.
nonisolated func appGroup() throws -> AppGroup { try AppGroup("group.com.example.app") }

/// How a push is opened, and what is shown if that fails.
nonisolated func sharedConfiguration(_ group: AppGroup) throws -> ExtensionConfiguration {
    try ExtensionConfiguration(
        group, senders: .key("THE KEY THAT keys export PRINTS"),
        fallback: .bundled(.localized(title: "NEW_MESSAGE", body: nil)))
}
