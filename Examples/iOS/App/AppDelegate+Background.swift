import PushCryptApple
import UIKit

/// What the system asks of the app in the background.
extension AppDelegate {
    /// A push with `content-available`. A silent one isn't sealed: anyone may have sent it, so it only makes the app fetch.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        Task {
            await fetch(pushes.open(userInfo))
            // Also renews the sender keys of users who rarely open the app.
            await pushes.refresh(isRequested: userInfo["register"] as? Bool == true)
            // The system expects this call within 30 seconds.
            completionHandler(.newData)
        }
    }

    /// Fetches what is new from your backend. The payload is what a trusted sender wrote; nil for a silent push.
    private func fetch(_ payload: [AnyHashable: Any]?) async {}

    /// The system has posted receipts of the extension.
    func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) {
        let receipts = (try? appGroup()).map(BackgroundReceipts.shared)
        let isHandled = receipts?.handleEvents(forSession: identifier, completion: completionHandler) ?? false
        // A session of your app's own.
        if !isHandled { completionHandler() }
    }
}
