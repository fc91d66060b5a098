/// What a passphrase costs to try with scrypt (RFC 7914 section 2), within limits that a reader may rely on when the
/// numbers come from a file: its author could otherwise make the reader allocate and compute without end.
public struct ScryptParameters: Hashable, Sendable {
    /// N, the CPU and memory cost: a power of two.
    public let n: Int
    /// r, the block size.
    public let r: Int
    /// p, the parallelisation: how often the work is done one after the other.
    public let p: Int

    /// The largest N.
    public static let maximumN = 1 << 20
    /// The largest r.
    public static let maximumR = 32
    /// The largest p.
    public static let maximumP = 16
    /// The most memory for V: 1 GiB.
    public static let maximumMemoryInBytes = 1 << 30

    /// N 2^17, r 8, p 1: 128 MiB and about half a second.
    public static let standard = ScryptParameters(withinLimitsN: 1 << 17, r: 8, p: 1)

    /// - Parameters:
    ///   - n: a power of two, 2 to 2^20, and 2^15 at most where r is 1.
    ///   - r: 1 to 32; with `n` such that the memory is at most 1 GiB.
    ///   - p: 1 to 16.
    /// - Throws: `CryptoError` with `invalidParameters`.
    public init(n: Int, r: Int, p: Int) throws(CryptoError) {
        guard (2...Self.maximumN).contains(n), n.nonzeroBitCount == 1 else {
            throw CryptoError(.invalidParameters, "scrypt's N is a power of two, from 2 to \(Self.maximumN)")
        }
        guard (1...Self.maximumR).contains(r) else {
            throw CryptoError(.invalidParameters, "scrypt's r is from 1 to \(Self.maximumR)")
        }
        guard (1...Self.maximumP).contains(p) else {
            throw CryptoError(.invalidParameters, "scrypt's p is from 1 to \(Self.maximumP)")
        }
        // RFC 7914 section 2: N is less than 2^(128 * r / 8). From r = 2 on no N within the limit reaches that.
        guard r > 1 || n < 1 << 16 else {
            throw CryptoError(.invalidParameters, "scrypt's N is less than 65536 where r is 1")
        }
        self.init(withinLimitsN: n, r: r, p: p)
        guard memoryInBytes <= Self.maximumMemoryInBytes else {
            throw CryptoError(.invalidParameters, "scrypt's N and r need more than 1 GiB of memory")
        }
    }

    private init(withinLimitsN n: Int, r: Int, p: Int) {
        (self.n, self.r, self.p) = (n, r, p)
    }

    /// The length of V, the table that makes trying expensive: 128 * N * r. The rest takes a few KiB.
    public var memoryInBytes: Int { 128 * n * r }
}

/// A backend that has scrypt; CryptoKit has none.
public protocol ScryptBackend: CryptoBackend {
    /// scrypt (RFC 7914 section 6).
    ///
    /// - Parameters:
    ///   - passphrase: any length below 2 GiB; an empty one is allowed here, and protects nothing.
    ///   - salt: random, 16 bytes or more, new for every passphrase that is set.
    ///   - count: dkLen, the length of the result in bytes, 1 to 2^31 - 1.
    /// - Throws: `CryptoError` with `invalidLength`; `backendFailure` where the memory isn't there.
    func scrypt(
        passphrase: Span<UInt8>, salt: Span<UInt8>, parameters: ScryptParameters, count: Int
    ) throws -> SecretBytes
}
