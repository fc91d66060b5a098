/// How many bytes a message may have in an outer payload. All counts are exact and known before anything is sealed.
package struct PayloadBudget: Equatable, Sendable {
    /// The most bytes that APNs takes for an alert push.
    package static let apnsLimitInBytes = 4096

    /// The whole outer payload's limit.
    package let limitInBytes: Int
    /// The outer payload without the characters of `sealed`.
    package let fixedByteCount: Int
    /// What encryption (and signature) add to the message.
    package let overheadByteCount: Int

    package init(limitInBytes: Int, fixedByteCount: Int, overheadByteCount: Int) {
        self.limitInBytes = limitInBytes
        self.fixedByteCount = fixedByteCount
        self.overheadByteCount = overheadByteCount
    }

    /// The longest message that fits; negative when not even an empty one does.
    package var messageCapacity: Int {
        let characters = limitInBytes - fixedByteCount
        return Base64URL.decodedCapacity(max(characters, 0)) - overheadByteCount
    }

    /// The outer payload's length for a message of `count` bytes.
    package func payloadByteCount(messageByteCount count: Int) -> Int {
        fixedByteCount + Base64URL.encodedCount(count + overheadByteCount)
    }
}

/// The sizes of the parts of an outer payload, in bytes. The parts add up to the whole.
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
        let sealed = text.root["pushcrypt"]?["sealed"]
        ciphertext = sealed?.kind == .string ? (sealed?.range.count ?? 2) - 2 : 0
    }

    /// How many of the ciphertext's characters are there because of `padding` bytes.
    package func ciphertextCharacters(ofPadding padding: Int) -> Int {
        let sealedByteCount = Base64URL.decodedCapacity(ciphertext)
        return ciphertext - Base64URL.encodedCount(max(sealedByteCount - padding, 0))
    }
}
