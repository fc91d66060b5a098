import Foundation
import PushCryptApple

/// The content extension for messages with a picture. It runs on Apple's systems and in the simulator.
@MainActor final class PictureMessages: NotificationContentExtension {
    nonisolated let categories = ["PICTURE"]
    private let verifier: NotificationVerifier?
    private let show: @MainActor (_ picture: Data) -> Void
    private var context: (any ContentExtensionContext)?

    init(verifier: NotificationVerifier?, show: @escaping @MainActor (_ picture: Data) -> Void) {
        self.verifier = verifier
        self.show = show
    }

    /// Shows the picture, if a trusted sender has sent it.
    func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {
        guard case .restored = await verifier?.received(notification),
            let picture = notification.request.content.attachments.first, context.startAccessing(picture)
        else { return }
        defer { context.stopAccessing(picture) }
        guard let bytes = context.read(picture) else { return }
        show(Data(bytes))
        self.context = context
        context.setActions([Self.like, Self.reply])
    }

    /// Offers only the reply after a "like". The app sends the reply, and learns of actions of the category itself.
    func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse {
        guard action.id == "LIKE" else { return .dismissAndForward }
        context?.setActions([Self.reply])
        return .doNotDismiss
    }

    private static let like = NotificationAction(id: "LIKE", title: "Like")
    private static let reply = NotificationAction(id: "REPLY", title: "Reply", textInput: .init(buttonTitle: "Send"))
}
