import PushCryptApple
import PushCryptPrimitives
import UIKit

/// An app with the guides' delegate. It is in a file of its own, because Testing has a module for files that import UIKit too.
@MainActor struct RunningApp {
    let delegate = AppDelegate()
    private let application: UIApplication

    /// Launches the app.
    init(hasScenes: Bool) {
        application = UIApplication(stubDelegate: delegate, hasScenes: hasScenes)
        application.stubLaunch()
    }

    func received(_ deviceToken: Data) {
        delegate.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
    }

    /// The app becomes active, and does what is due.
    func becomeActive() async {
        application.stubBecomeActive()
        _ = await delegate.pushes.lastRefresh?.value
    }

    /// The system wakes the app, which answers when it has done what is due.
    func received(_ userInfo: [AnyHashable: Any]) async {
        await withCheckedContinuation { continuation in
            delegate.application(application, didReceiveRemoteNotification: userInfo) { _ in continuation.resume() }
        }
    }
}

/// Stands in for the sample's backend, which writes a file.
enum Backend {
    static let user: String? = nil
    static let uploads = Locked<[PushRegistration.Upload]>([])
    static func store(_ registration: PushRegistration.Upload) async throws {
        uploads.withLock { $0.append(registration) }
    }
}

/// Stands in for the library's class, which only Apple's systems have: Linux has no sessions in the background.
struct BackgroundReceipts {
    static func shared(_ group: AppGroup) -> BackgroundReceipts { BackgroundReceipts() }
    func handleEvents(forSession identifier: String, completion: @escaping () -> Void) -> Bool { false }
}
