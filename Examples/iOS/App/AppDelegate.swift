import PushCryptApple
import UIKit

/// Registers the device at launch. The rest of the app has `pushes`.
final class AppDelegate: NSObject, UIApplicationDelegate {
    let pushes = PushCrypt.start(try appGroup(), configuration: sharedConfiguration) { try await Backend.store($0) }

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.registerForRemoteNotifications()
        // Here, because a start in the background shows no view.
        if let user = Backend.user { pushes.signIn(as: user) }
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        pushes.received(deviceToken)
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        PushCrypt.log(error)
    }
}
