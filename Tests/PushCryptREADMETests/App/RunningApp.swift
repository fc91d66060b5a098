import PushCryptApple
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

    func becomeActive() { application.stubBecomeActive() }
}

/// Stands in for the library's class, which only Apple's systems have: Linux has no sessions in the background.
struct BackgroundReceipts {
    static func shared(_ group: AppGroup) -> BackgroundReceipts { BackgroundReceipts() }
    func handleEvents(forSession identifier: String, completion: @escaping () -> Void) -> Bool { false }
}
