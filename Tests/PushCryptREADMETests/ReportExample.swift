import Foundation
import PushCryptApple

/// The report that a user sends with a request for help.
@MainActor func reportOfThisDevice(_ pushes: PushCrypt) async throws -> Data { try await pushes.deviceReport().json() }
