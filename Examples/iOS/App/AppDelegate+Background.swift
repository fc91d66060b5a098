import PushCryptApple
import UIKit

/// What the system asks of the app in the background.
extension AppDelegate {
    /// A push with `content-available`. It also renews the sender keys of users who rarely open the app.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        Task {
            let payload = await pushes.open(userInfo)
            if let payload { refresh(payload) }
            await pushes.refresh()
            // The system expects this call within 30 seconds.
            completionHandler(payload == nil ? .noData : .newData)
        }
    }

    /// Updates what the app shows. Only a trusted sender wrote the payload.
    private func refresh(_ payload: [AnyHashable: Any]) {}

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
