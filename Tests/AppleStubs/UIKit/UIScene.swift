@_exported public import Foundation

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIResponder: NSObject {}

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIWindow: NSObject {
    open var rootViewController: UIViewController?

    @available(iOS 13, visionOS 1, *)
    public init(windowScene: UIWindowScene) {}
    open func makeKeyAndVisible() {}
}

@available(iOS 13, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIWindowScene: UIScene {}

@available(iOS 13, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIScene: NSObject {
    @MainActor open class ConnectionOptions: NSObject {}
}

@available(iOS 13, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UISceneSession: NSObject {}

/// Apple's members are optional. Those that the example has are required, so that a misspelt one is an error.
@available(iOS 13, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor public protocol UIWindowSceneDelegate: NSObjectProtocol {
    var window: UIWindow? { get set }
    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession, options connectionOptions: UIScene.ConnectionOptions)
}
