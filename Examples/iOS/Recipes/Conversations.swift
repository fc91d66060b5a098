import PushCryptApple

/// Presents the app's messages and answers taps: the `responder` of `PushCrypt.start`.
@MainActor final class Conversations: NotificationResponder {
    /// The conversation on the screen.
    var current: String?
    private let open: (_ chat: String) -> Void
    private let send: (_ text: String, _ chat: String) async -> Void

    init(
        open: @escaping (_ chat: String) -> Void, send: @escaping (_ text: String, _ chat: String) async -> Void
    ) {
        (self.open, self.send) = (open, send)
    }

    /// The button below messages whose `aps.category` is `MESSAGE`. Call it at every start.
    static func registerCategories() {
        let reply = NotificationAction(
            id: "REPLY", title: "Reply", options: .authenticationRequired, textInput: .init(buttonTitle: "Send"))
        SystemNotifications().setCategories([NotificationCategory(id: "MESSAGE", actions: [reply])])
    }

    /// In the foreground, messages of the conversation that the user is reading aren't shown.
    func presentation(of notification: ReceivedNotification) async -> PresentationOptions {
        if let chat = chat(of: notification), chat == current { return [] }
        return .standard(for: notification)
    }

    /// Opens the conversation of a tapped message, and sends the text of its action `REPLY`.
    func received(_ response: ReceivedResponse) async {
        guard let chat = chat(of: response.notification) else { return }
        switch response.action {
        case .open: open(chat)
        case .custom("REPLY"): await send(response.text ?? "", chat)
        default: break
        }
    }

    /// Only a restored payload was written by a sender whom the app trusts. While plain pushes still come, anyone may have written
    /// theirs: let them open a conversation, and nothing more.
    private func chat(of notification: ReceivedNotification) -> String? {
        let payload: [UInt8]? =
            switch notification {
            case .restored(let push): push.payload
            case .unverified(let push): push.payload
            case .local: nil
            }
        return payload.flatMap { UserInfoJSON.dictionary($0)["chat"] as? String }
    }
}
