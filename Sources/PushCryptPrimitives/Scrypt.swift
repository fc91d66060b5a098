/// The cost parameters of scrypt (RFC 7914 section 2), within limits: the author of a file can't make its reader
/// allocate or compute without bound.
public struct ScryptParameters: Hashable, Sendable {
    /// N, the CPU and memory cost: a power of two.
    public let n: Int
    /// r, the block size.
    public let r: Int
    /// p, the parallelisation: the number of independent computations.
    public let p: Int
    /// The largest N.
    public static let maximumN = 1 << 20
    /// The largest r.
    public static let maximumR = 32
    /// The largest p.
    public static let maximumP = 16
    /// The largest size of the table V: 1 GiB.
    public static let maximumMemoryInBytes = 1 << 30
    /// N 2^17, r 8, p 1: 128 MiB of memory and about half a second.
    public static let standard = ScryptParameters(withinLimitsN: 1 << 17, r: 8, p: 1)

    /// - Parameters:
    ///   - n: a power of two, 2 to 2^20; at most 2^15 if r is 1.
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
            throw CryptoError(.invalidParameters, "scrypt's N is less than 65536 if r is 1")
        }
        self.init(withinLimitsN: n, r: r, p: p)
        guard memoryInBytes <= Self.maximumMemoryInBytes else {
            throw CryptoError(.invalidParameters, "scrypt's N and r need more than 1 GiB of memory")
        }
    }

    private init(withinLimitsN n: Int, r: Int, p: Int) {
        self.n = n
        self.r = r
        self.p = p
    }

    /// The length of V, scrypt's large table: 128 * N * r. The other buffers have a few KiB.
    public var memoryInBytes: Int { 128 * n * r }
}
