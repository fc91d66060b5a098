import Foundation
import PushCryptApple
import UIKit
import UserNotifications

/// The app delegate's calls for notifications.
extension AppDelegate {
    /// Fails if the entitlements lack the app group or the resources lack the pins.
    private static let notifications = Result {
        try AppNotifications(
            appGroup(), openChat: { chat in print("shows the conversation \(chat)") },
            sendReply: { text, chat in print("sends \(text.count) characters to \(chat)") })
    }
    private static let silentPushes = Result { try SilentPushes(appGroup()) }

    /// The centre needs its delegate before the app has finished launching: otherwise the tap that started it is lost.
    func application(
        _ application: UIApplication, willFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        do {
            let notifications = try Self.notifications.get()
            UNUserNotificationCenter.current().delegate = notifications.delegate
            notifications.registerCategories()
        } catch { report(error) }
        // Kept messages may need the sender keys that the registration has updated.
        afterRegistration = { [weak self] in await self?.openKept() }
        // The system doesn't call `applicationDidBecomeActive(_:)` in an app with scenes.
        _ = NotificationCenter.default.addObserver(
            forName: UIApplication.didBecomeActiveNotification, object: nil, queue: nil
        ) { [weak self] _ in MainActor.assumeIsolated { self?.becameActive() } }
        return true
    }

    private func becameActive() {
        Task {
            await openKept()
            // Registers, which opens what is left.
            await register()
        }
    }

    private func openKept() async {
        do { try await Self.notifications.get().openKept() } catch { report(error) }
    }

    /// A push with `content-available`. It also renews the sender keys of users who rarely open the app.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        Task {
            let payload = try? await Self.silentPushes.get().payload(of: userInfo)
            if let payload { refresh(payload) }
            await register()
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
