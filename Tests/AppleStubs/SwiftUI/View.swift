public import UIKit

@available(iOS 13, visionOS 1, *)
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

@available(iOS 13, visionOS 1, *)
extension View {
    @available(iOS 14, visionOS 1, *)
    public nonisolated func accessibilityIdentifier(_ identifier: String) -> some View { Text(identifier) }
}

@available(iOS 13, visionOS 1, *)
extension Never: View {
    public var body: Never { fatalError("nothing is shown") }
}

@available(iOS 13, visionOS 1, *)
@resultBuilder public struct ViewBuilder {
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<
        (repeat each Content)
    > { TupleView() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
}

@available(iOS 13, visionOS 1, *)
public struct TupleView<Value>: View {
    public var body: Never { fatalError("nothing is shown") }
}

@available(iOS 13, visionOS 1, *)
public struct Text: View {
    public var body: Never { fatalError("nothing is shown") }
    public nonisolated init<Content: StringProtocol>(_ content: Content) {}
}

@available(iOS 13, visionOS 1, *)
public struct VStack<Content: View>: View {
    public var body: Never { fatalError("nothing is shown") }
    public init(spacing: Double? = nil, @ViewBuilder content: () -> Content) {}
}

@available(iOS 13, visionOS 1, *)
public struct Button<Label: View>: View {
    public var body: Never { fatalError("nothing is shown") }
}

@available(iOS 13, visionOS 1, *)
extension Button where Label == Text {
    public nonisolated init(_ title: String, action: @escaping @MainActor () -> Void) {}
}

@available(iOS 13, visionOS 1, *)
@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) {}
    public var wrappedValue: Value {
        get { fatalError("nothing is shown") }
        nonmutating set {}
    }
}

@available(iOS 13, visionOS 1, *)
@MainActor open class UIHostingController<Content: View>: UIViewController {
    public init(rootView: Content) { super.init() }
}
