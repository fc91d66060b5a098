import PushCryptApple
import UIKit

/// A UIKit app has the same app delegate, with `@main` before its class. Its scenes get `pushes` from it.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?
    private let pushes = (UIApplication.shared.delegate as? AppDelegate)?.pushes

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        // The user is still signed in.
        pushes?.signIn(as: "test")
    }
}
