import PushCryptApple

/// Opens the pushes with `content-available` that the app receives itself, each message once.
@MainActor struct SilentPushes {
    private let opener: Opener
    private let store: SharedStore

    init(_ group: AppGroup) throws {
        opener = try sharedConfiguration(group).opener
        store = group.store(.app)
    }

    /// Call it in `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`.
    ///
    /// - Returns: the sealed payload; nil if the push can't be opened, or was opened before.
    func payload(of userInfo: [AnyHashable: Any]) async -> [AnyHashable: Any]? {
        guard let push = try? await opener.claiming(userInfo: userInfo, in: store).get() else { return nil }
        return UserInfoJSON.dictionary(push.payload)
    }
}
