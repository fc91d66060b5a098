/// How far a message is padded with spaces, so that its length reveals less (PROTOCOL section 5).
///
/// Where the limit is nearer than the next multiple, the message is padded to the limit: near the limit the length is
/// visible.
public struct PaddingPolicy: Hashable, Sendable {
    enum Kind: Hashable {
        case multiple(Int)
        case limit
        case none
    }

    let kind: Kind

    /// To a multiple of `byteCount` bytes of the message (the signature, 64 bytes, isn't counted).
    public static func multiple(of byteCount: Int) -> PaddingPolicy {
        PaddingPolicy(kind: .multiple(max(byteCount, 1)))
    }

    /// To the largest message that fits: every push of the same placeholder has the same size.
    public static let limit = PaddingPolicy(kind: .limit)

    /// No padding: the message's length is visible.
    public static let none = PaddingPolicy(kind: .none)

    /// The padded length of a message of `byteCount` bytes.
    ///
    /// - Parameter capacity: the longest message that fits, at least `byteCount`.
    package func paddedCount(_ byteCount: Int, capacity: Int) -> Int {
        switch kind {
        case .multiple(let multiple):
            let (quotient, rest) = byteCount.quotientAndRemainder(dividingBy: multiple)
            let (padded, overflow) = (quotient + (rest == 0 ? 0 : 1)).multipliedReportingOverflow(by: multiple)
            return overflow ? capacity : min(padded, capacity)
        case .limit: return capacity
        case .none: return byteCount
        }
    }
}

/// Padding byte (space), ignored by JSON parsers.
package let paddingByte = UInt8(ascii: " ")
