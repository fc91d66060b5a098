public import Foundation

// On Apple's systems these are a part of Foundation.

open class NSExtensionContext: NSObject {
    /// What a category of the class stores.
    var stubObject: Any?
}

extension URL {
    /// Whether there is a file. Apple's function makes it readable.
    public func startAccessingSecurityScopedResource() -> Bool {
        guard FileManager.default.fileExists(atPath: path) else { return false }
        SecurityScopes.ofThisProcess.change(path, by: 1)
        return true
    }

    public func stopAccessingSecurityScopedResource() { SecurityScopes.ofThisProcess.change(path, by: -1) }

    /// How many calls of `startAccessingSecurityScopedResource()` have no matching stop.
    public var stubAccessCount: Int { SecurityScopes.ofThisProcess.count(path) }
}

private final class SecurityScopes: @unchecked Sendable {
    static let ofThisProcess = SecurityScopes()

    private let lock = NSLock()
    private var counts: [String: Int] = [:]

    func count(_ path: String) -> Int { lock.withLock { counts[path, default: 0] } }
    func change(_ path: String, by step: Int) { lock.withLock { counts[path, default: 0] += step } }
}
