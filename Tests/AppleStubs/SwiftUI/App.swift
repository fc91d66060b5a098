@_exported public import Foundation
public import UIKit

@available(iOS 14, visionOS 1, *)
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    var body: Body { get }
}

@available(iOS 14, visionOS 1, *)
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

@available(iOS 14, visionOS 1, *)
extension App {
    public static func main() {}
}

@available(iOS 14, visionOS 1, *)
extension Never: Scene {}

@available(iOS 14, visionOS 1, *)
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

@available(iOS 14, visionOS 1, *)
public struct WindowGroup<Content: View>: Scene {
    public var body: Never { fatalError("nothing is shown") }
    public init(@ViewBuilder content: () -> Content) {}
}

@available(iOS 14, visionOS 1, *)
@MainActor @preconcurrency @propertyWrapper
public struct UIApplicationDelegateAdaptor<
    Delegate: NSObject & UIApplicationDelegate
> {
    public let wrappedValue: Delegate
    public init(_ type: Delegate.Type = Delegate.self) { wrappedValue = Delegate() }
}
