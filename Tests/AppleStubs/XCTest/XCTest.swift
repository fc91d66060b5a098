public import Foundation

// The part of Apple's documented API that the sample's UI tests use.

nonisolated open class XCTestCase: NSObject {
    open var continueAfterFailure = true
}

public struct XCTSkip: Error {
    public init(_ message: @autoclosure () -> String? = nil) {}
}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func XCTFail(_ message: String = "", file: StaticString = #filePath, line: UInt = #line) {}

// swift-format-ignore: AlwaysUseLowerCamelCase
public func XCTAssertTrue(
    _ expression: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String = "",
    file: StaticString = #filePath, line: UInt = #line
) {}

@MainActor public protocol XCUIElementTypeQueryProvider {
    var buttons: XCUIElementQuery { get }
    var staticTexts: XCUIElementQuery { get }
    func descendants(matching type: XCUIElement.ElementType) -> XCUIElementQuery
}

@MainActor extension XCUIElementTypeQueryProvider {
    public var buttons: XCUIElementQuery { XCUIElementQuery() }
    public var staticTexts: XCUIElementQuery { XCUIElementQuery() }
    public func descendants(matching type: XCUIElement.ElementType) -> XCUIElementQuery { XCUIElementQuery() }
}

@MainActor open class XCUIElement: NSObject, XCUIElementTypeQueryProvider {
    public enum ElementType: UInt, Sendable {
        case any
    }

    open var exists: Bool { false }
    open var firstMatch: XCUIElement { self }
    /// The tree of elements, which Apple's documentation recommends for a look at a failed test.
    open var debugDescription: String { "" }
    open func tap() {}
    open func waitForExistence(timeout: TimeInterval) -> Bool { false }
    open func coordinate(withNormalizedOffset offset: CGVector) -> XCUICoordinate { XCUICoordinate() }
}

@MainActor open class XCUIElementQuery: NSObject, XCUIElementTypeQueryProvider {
    open var firstMatch: XCUIElement { XCUIElement() }
    open subscript(key: String) -> XCUIElement { XCUIElement() }
    open func matching(_ predicate: NSPredicate) -> XCUIElementQuery { self }
}

@MainActor open class XCUICoordinate: NSObject {
    open func press(forDuration duration: TimeInterval, thenDragTo other: XCUICoordinate) {}
}

@MainActor open class XCUIApplication: XCUIElement {
    public enum State: UInt, Sendable {
        case unknown, notRunning, runningBackgroundSuspended, runningBackground, runningForeground
    }

    public override init() {}
    public init(bundleIdentifier: String) {}
    open func launch() {}
    open func wait(for state: State, timeout: TimeInterval) -> Bool { false }
}

@MainActor open class XCUIDevice: NSObject {
    public enum Button: Int, Sendable {
        case home = 1
    }

    open class var shared: XCUIDevice { XCUIDevice() }
    open func press(_ button: Button) {}
}
