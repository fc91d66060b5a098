import PushCryptCryptoKit
import PushCryptOpenSSL
public import PushCryptPrimitives

// Nothing in this target imports Testing: a plain `swift build` builds it too, and with --static-swift-stdlib there is
// no Testing to import. Swift Testing prints arguments by their CustomStringConvertible.

/// A backend as the argument of a parameterised test.
public struct NamedBackend: Sendable, CustomStringConvertible {
    public let backend: any CryptoBackend

    public var description: String { backend.name }
}

/// Two backends, of which the second reads what the first makes.
public struct BackendPair: Sendable, CustomStringConvertible {
    public let first: any CryptoBackend
    public let second: any CryptoBackend

    public var description: String { "\(first.name) to \(second.name)" }
}

public enum Backends {
    public static let openSSL = NamedBackend(backend: OpenSSLBackend())
    /// On Linux swift-crypto, which has CryptoKit's API.
    public static let cryptoKit = NamedBackend(backend: CryptoKitBackend())

    public static let all = [openSSL, cryptoKit]

    /// Every ordered pair, including each backend with itself.
    public static let pairs = pairs(of: all)

    /// The backends that have keys of a type on this machine: OpenSSL has X-Wing from 3.5 on.
    public static func supporting(_ type: KeyPairType) -> [NamedBackend] { all.filter { $0.backend.supports(type) } }

    /// Every vector with every backend that can run it: one of suite 3 needs X-Wing.
    public static func pairs<Vector>(
        with vectors: [Vector], ofSuite3 isOfSuite3: (Vector) -> Bool
    ) -> [(Vector, NamedBackend)] {
        vectors.flatMap { vector in (isOfSuite3(vector) ? supporting(.xWing) : all).map { (vector, $0) } }
    }

    /// Every ordered pair of them.
    public static func pairs(supporting type: KeyPairType) -> [BackendPair] { pairs(of: supporting(type)) }

    private static func pairs(of backends: [NamedBackend]) -> [BackendPair] {
        backends.flatMap { first in
            backends.map { second in BackendPair(first: first.backend, second: second.backend) }
        }
    }
}
