import PushCryptApple

/// The app group. This file belongs to both targets.
nonisolated func appGroup() throws -> AppGroup { try AppGroup("group.com.example.app") }
