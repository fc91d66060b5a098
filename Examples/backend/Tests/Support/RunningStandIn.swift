public import APNsStandIn
import Crypto
import Foundation
import NIOConcurrencyHelpers

/// A stand-in that listens on this machine, with a provider key of its own.
public struct RunningStandIn: Sendable {
    /// The id of the team that owns the provider key.
    public static let teamID = "TEAM123456"
    /// The id of the provider key.
    public static let keyID = "KEY1234567"

    /// The stand-in.
    public let standIn: APNsStandIn
    /// Its address, which begins with `https:`.
    public let base: String
    /// The certificate for clients to trust.
    public let certificatePEM: String
    /// The provider key, the text of a `.p8` file.
    public let providerKeyPEM: String
    private let pushes: NIOLockedValueBox<[AcceptedPush]>
    private let arrivals: AsyncStream<Void>

    /// Every push that it has accepted.
    public var accepted: [AcceptedPush] { pushes.withLockedValue { $0 } }

    /// Returns when it has accepted so many pushes since the last call.
    public func waitForPushes(_ count: Int) async {
        var iterator = arrivals.makeAsyncIterator()
        for _ in 0..<count { await iterator.next() }
    }

    /// Starts a stand-in, and stops it after the body.
    ///
    /// - Parameter streamLimit: how many streams a connection may have after a request with a valid provider token.
    public static func with<Value>(
        streamLimit: Int = 1_000, _ body: (RunningStandIn) async throws -> Value
    ) async throws -> Value {
        let key = P256.Signing.PrivateKey()
        let identity = try SelfSignedIdentity()
        let pushes = NIOLockedValueBox<[AcceptedPush]>([])
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let standIn = APNsStandIn(
            tokens: ProviderTokenCheck(teamID: teamID, keys: [keyID: key.publicKey]), identity: identity,
            streamLimit: streamLimit
        ) { push in
            pushes.withLockedValue { $0.append(push) }
            arrival.yield()
        }
        let port = try await standIn.start()
        let running = RunningStandIn(
            standIn: standIn, base: "https://127.0.0.1:\(port)", certificatePEM: identity.certificatePEM,
            providerKeyPEM: key.pemRepresentation, pushes: pushes, arrivals: arrivals)
        let result: Result<Value, any Error>
        do { result = .success(try await body(running)) } catch { result = .failure(error) }
        await standIn.stop()
        return try result.get()
    }
}
