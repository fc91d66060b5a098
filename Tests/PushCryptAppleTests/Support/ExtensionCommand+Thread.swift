import Foundation
import PushCryptTestSupport

extension ExtensionCommand {
    /// Runs the test program and waits on a new thread, because a test's server needs the threads of the pool.
    ///
    /// - Returns: what it printed; nil if it failed.
    static func outputFromThread(_ arguments: [String]) async throws -> [String]? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try output(arguments) }) }
        }
    }
}
