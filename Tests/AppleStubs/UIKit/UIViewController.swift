@_exported public import Foundation

#if os(Linux)
public import UserNotificationsUI
#endif

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) { super.init() }
}

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIView: NSObject {
    public enum ContentMode: Int, Sendable {
        case scaleToFill, scaleAspectFit, scaleAspectFill
    }

    public override init() { super.init() }

    open var contentMode = ContentMode.scaleToFill
}

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIImageView: UIView {
    open var image: UIImage?
}

@available(iOS 2, visionOS 1, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@MainActor open class UIViewController: NSObject {
    open var view: UIView!
    @available(iOS 8, visionOS 1, *)
    open var extensionContext: NSExtensionContext? { nil }

    public override init() { super.init() }

    open func loadView() {}
}
