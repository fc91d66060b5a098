public import Foundation

extension Bundle {
    /// The bundle identifier of the app under test, which has no Info.plist here.
    public var stubIdentifier: String? { StubProcess.current.hasAppBundle ? "com.example.app" : nil }
}

/// This process. It is an app or an extension, unless an exit test says otherwise.
public final class StubProcess: @unchecked Sendable {
    // Unchecked because of the variable: it is read and written under the lock.
    public static let current = StubProcess()
    private let lock = NSLock()
    private var isBundled = true

    public var hasAppBundle: Bool {
        get { lock.withLock { isBundled } }
        set { lock.withLock { isBundled = newValue } }
    }
}
