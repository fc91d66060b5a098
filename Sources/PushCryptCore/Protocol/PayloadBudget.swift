/// The number of bytes that a message may have in an outer payload. The counts are exact, and known before sealing.
package struct PayloadBudget: Equatable, Sendable {
    /// The longest alert push that APNs accepts, in bytes.
    package static let apnsLimitInBytes = 4096
    /// The limit of the whole outer payload.
    package let limitInBytes: Int
    /// The length of the outer payload without the characters of `sealed`.
    package let fixedByteCount: Int
    /// The bytes that encryption and signature add to the message.
    package let overheadByteCount: Int

    package init(limitInBytes: Int, fixedByteCount: Int, overheadByteCount: Int) {
        self.limitInBytes = limitInBytes
        self.fixedByteCount = fixedByteCount
        self.overheadByteCount = overheadByteCount
    }

    /// The length of the longest message that fits; negative if an empty one doesn't.
    package var messageCapacity: Int {
        let characters = limitInBytes - fixedByteCount
        return Base64URL.decodedCapacity(max(characters, 0)) - overheadByteCount
    }

    /// Returns the outer payload's length for a message of `count` bytes.
    package func payloadByteCount(messageByteCount count: Int) -> Int {
        fixedByteCount + Base64URL.encodedCount(count + overheadByteCount)
    }
}

/// The lengths of the parts of an outer payload in bytes. Their sum is the length of the whole.
package struct PayloadBreakdown: Equatable, Sendable {
    package let byteCount: Int
    /// The value of `aps.alert`.
    package let placeholder: Int
    /// The value of `pushcrypt.sealed` without its quotes: characters of base64url.
    package let ciphertext: Int

    /// Everything else: names, braces, key ids, exposed members.
    package var envelope: Int { byteCount - placeholder - ciphertext }

    package init(_ text: JSONText) {
        byteCount = text.bytes.count
        placeholder = text.root["aps"]?["alert"]?.range.count ?? 0
        let sealed = (try? EnvelopePlaces.all.envelope(in: text.root))?["sealed"]
        ciphertext = sealed?.kind == .string ? (sealed?.range.count ?? 2) - 2 : 0
    }

    /// Returns how many of the ciphertext's characters `padding` bytes of the message cause.
    package func ciphertextCharacters(ofPadding padding: Int) -> Int {
        let sealedByteCount = Base64URL.decodedCapacity(ciphertext)
        return ciphertext - Base64URL.encodedCount(max(sealedByteCount - padding, 0))
    }
}

/// The length to which a message is padded with spaces, so that its length reveals less (PROTOCOL section 5).
public struct PaddingPolicy: Hashable, Sendable {
    enum Kind: Hashable {
        case multiple(Int)
        case limit
        case none
    }

    let kind: Kind

    /// Pads the message to a multiple of `byteCount` bytes, or to the limit if that is shorter.
    ///
    /// The signature, 64 bytes, isn't counted.
    public static func multiple(of byteCount: Int) -> PaddingPolicy {
        PaddingPolicy(kind: .multiple(max(byteCount, 1)))
    }

    /// Pads to the longest message that fits. All pushes with the same placeholder then have the same length.
    public static let limit = PaddingPolicy(kind: .limit)
    /// Doesn't pad: the message's length is visible.
    public static let none = PaddingPolicy(kind: .none)

    /// Returns the padded length of a message of `byteCount` bytes.
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
