import Foundation
import PushCryptApple
import UIKit
import UserNotifications

final class AppDelegate: NSObject, UIApplicationDelegate {
    /// Put your own `Backend` here. It fails if the entitlements lack the app group or the resources lack the pins.
    private lazy var registration = Result { try DeviceRegistration(appGroup(), SimulatorBackend()) }
    /// Runs after each step of the registration.
    var afterRegistration: () async -> Void = {}

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        application.registerForRemoteNotifications()
        return true
    }

    func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        Task { await run { try await $0.received(deviceToken) } }
    }

    func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        report(error)
    }

    /// The device was unlocked for the first time since its start, so keys can be read that were locked.
    func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
        Task { await register() }
    }

    /// Asks for the permission to show notifications. Call it when the user understands what they are for.
    func askForPermission() {
        Task {
            do {
                _ = try await SystemNotifications().requestAuthorization([.alert, .sound, .badge])
            } catch { report(error) }
        }
    }

    /// Call it when a user signs in, and at every start when your app knows that a user is still signed in.
    func signedIn(as user: String) {
        Task { await run { try await $0.signedIn(as: user) } }
    }

    /// Call it when the user signs out, after your backend has deleted the record.
    func signOut() {
        Task {
            await run { registration in
                try await registration.signOut()
                return nil
            }
        }
    }

    /// Does what is due, such as the daily update of the sender keys.
    func register() async { await run { try await $0.register() } }

    private func run(
        _ step: @MainActor (DeviceRegistration) async throws -> PushRegistration.Outcome?
    ) async {
        do {
            let outcome = try await step(registration.get())
            if let failure = outcome?.senderSetFailure { report(failure) }
            if outcome?.advice.contains(.updateApp) == true { askForUpdate() }
        } catch let error as DeviceKeyError where error.code == .locked {
            // Nothing is lost: protected data becomes available after the first unlock.
        } catch {
            // Usually there is no network. The next step tries again.
            report(error)
        }
        await afterRegistration()
    }

    /// Your app's log or crash reporter. The errors of pushcrypt contain no secrets.
    func report(_ error: any Error) { print(error) }

    /// Tells the user that this version can't read newer messages.
    private func askForUpdate() {}
}
