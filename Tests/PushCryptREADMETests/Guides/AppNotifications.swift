import PushCryptApple
import UserNotifications

/// What the app does with its notifications.
@MainActor final class AppNotifications: NotificationResponder {
    /// The conversation on the screen.
    var currentChat: String?
    /// The delegate of the notification centre, which doesn't retain it.
    private(set) lazy var delegate = PushCryptNotificationDelegate(group, self, kept: kept)
    private let group: AppGroup
    private let kept: KeptNotifications
    private let openChat: (_ chat: String) -> Void
    private let sendReply: (_ text: String, _ chat: String) async -> Void

    init(
        _ group: AppGroup, openChat: @escaping (_ chat: String) -> Void,
        sendReply: @escaping (_ text: String, _ chat: String) async -> Void
    ) throws {
        self.group = group
        kept = try KeptNotifications(sharedConfiguration(group))
        self.openChat = openChat
        self.sendReply = sendReply
    }

    /// The button below messages whose `aps.category` is `MESSAGE`. Call it at every start.
    func registerCategories() {
        let reply = NotificationAction(
            id: "REPLY", title: "Reply", options: .authenticationRequired, textInput: .init(buttonTitle: "Send"))
        SystemNotifications().setCategories([NotificationCategory(id: "MESSAGE", actions: [reply])])
    }

    /// Shows everything in the foreground, except messages of the conversation that the user is reading.
    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        if let chat = chat(of: notification), chat == currentChat { return [] }
        // Opened when the app became active, perhaps many at once.
        if case .restored(let push) = notification, push.requestID.hasSuffix("-opened") { return .list }
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

    /// Opens what the extension couldn't, and removes what has expired or was retracted. Call it when the app becomes active, and
    /// after each registration, which may have fetched newer sender keys.
    func openKept() async throws {
        await kept.open()
        try await group.removeDueNotifications()
    }

    /// Only a restored payload was written by a sender whom the app trusts.
    private func chat(of notification: ReceivedNotification) -> String? {
        guard case .restored(let push) = notification else { return nil }
        return UserInfoJSON.dictionary(push.payload)["chat"] as? String
    }
}
