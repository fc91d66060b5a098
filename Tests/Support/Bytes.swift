public import PushCryptPrimitives

extension SecretBytes {
    /// The bytes, for comparing them in a test: a failure shows what differs.
    public var revealed: [UInt8] { Array(bytes) }
}

extension [UInt8] {
    /// A copy in which bit `bit` is flipped.
    public func flipping(bit: Int) -> [UInt8] {
        var copy = self
        copy[bit / 8] ^= 1 << UInt8(bit % 8)
        return copy
    }

    public var bitCount: Int { count * 8 }
}
