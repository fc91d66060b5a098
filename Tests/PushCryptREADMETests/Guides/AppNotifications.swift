import PushCryptApple

/// What the app does with its notifications.
@MainActor final class AppNotifications: NotificationResponder {
    /// The conversation on the screen.
    var currentChat: String?
    private let group: AppGroup
    private let openChat: (_ chat: String) -> Void
    private let sendReply: (_ text: String, _ chat: String) async -> Void

    init(
        _ group: AppGroup, openChat: @escaping (_ chat: String) -> Void,
        sendReply: @escaping (_ text: String, _ chat: String) async -> Void
    ) {
        self.group = group
        self.openChat = openChat
        self.sendReply = sendReply
    }

    /// Shows everything in the foreground, except messages of the conversation that the user is reading.
    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        if let chat = chat(of: notification), chat == currentChat { return [] }
        return [.banner, .list, .sound, .badge]
    }

    /// Opens the conversation of a tapped message, and sends the text of its action `REPLY`.
    func received(_ response: ReceivedResponse) async {
        guard let chat = chat(of: response.notification) else { return }
        switch response.action {
        case .open: openChat(chat)
        case .custom("REPLY"): await sendReply(response.text ?? "", chat)
        default: break
        }
    }

    /// Call it when the app starts and when it becomes active.
    func becameActive() async throws {
        // Restores what came while the keys were locked, and removes what has expired or was retracted.
        _ = try await KeptNotifications(sharedConfiguration(group)).open()
        try await group.removeDueNotifications()
    }

    /// Only a restored payload was written by a sender whom the app trusts.
    private func chat(of notification: ReceivedNotification) -> String? {
        guard case .restored(let push) = notification else { return nil }
        return UserInfoJSON.dictionary(push.payload)["chat"] as? String
    }
}
