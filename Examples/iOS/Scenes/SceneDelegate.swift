import PushCryptApple
import SwiftUI
import UIKit

/// A UIKit app has the same app delegate, with `@main` before its class. Its scenes get `pushes` from it.
final class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    var window: UIWindow?

    func scene(_ scene: UIScene, willConnectTo session: UISceneSession, options: UIScene.ConnectionOptions) {
        guard let scene = scene as? UIWindowScene, let app = UIApplication.shared.delegate as? AppDelegate else {
            return
        }
        window = UIWindow(windowScene: scene)
        window?.rootViewController = UIHostingController(rootView: ContentView(pushes: app.pushes))
        window?.makeKeyAndVisible()
    }
}
