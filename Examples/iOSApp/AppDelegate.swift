import Foundation
import PushCryptApple
import UIKit

final class AppDelegate: NSObject, UIApplicationDelegate {
    /// Put your own `Backend` here. It fails if the entitlements lack the app group or the resources lack the pins.
    private lazy var registration = Result { try DeviceRegistration(SimulatorBackend()) }

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        run { try await $0.received(deviceToken) }
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        report(error)
    }

    /// The device was unlocked for the first time since its start, so keys can be read that were locked.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
        run { try await $0.register() }
    }

    /// Call it when a user signs in, and at every start when your app knows that a user is still signed in.
    func signedIn(as user: String) {
        run { try await $0.signedIn(as: user) }
    }

    func signOut() {
        run { registration in
            try await registration.signOut()
            return nil
        }
    }

    private func run(_ step: @escaping @MainActor (DeviceRegistration) async throws -> PushRegistration.Outcome?) {
        Task {
            do {
                guard let outcome = try await step(registration.get()) else { return }
                if let failure = outcome.senderSetFailure { report(failure) }
                if outcome.advice.contains(.updateApp) { askForUpdate() }
            } catch let error as DeviceKeyError where error.code == .locked {
                // Nothing is lost: protected data becomes available after the first unlock.
            } catch {
                // Usually there is no network. The next start tries again.
                report(error)
            }
        }
    }

    /// Your app's log or crash reporter. The errors of pushcrypt contain no secrets.
    private func report(_ error: any Error) { print(error) }

    /// Tells the user that this version can't read newer messages.
    private func askForUpdate() {}
}
