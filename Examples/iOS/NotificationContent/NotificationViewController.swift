import PushCryptAppleUI
import UIKit
import UserNotifications
import UserNotificationsUI

/// The view of the content extension. The app's own code is in `PictureMessages`.
final class NotificationViewController: UIViewController, @MainActor UNNotificationContentExtension {
    private let picture = UIImageView()
    private lazy var adapter = ContentExtensionAdapter(
        PictureMessages(verifier: (try? appGroup()).map { NotificationVerifier(store: $0.store(.app)) }) { [picture] in
            picture.image = UIImage(data: $0)
        }, in: extensionContext)

    override func loadView() {
        picture.contentMode = .scaleAspectFit
        view = picture
    }

    func didReceive(_ notification: UNNotification) { adapter.didReceive(notification) }

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        adapter.didReceive(response, completionHandler: completion)
    }
}
