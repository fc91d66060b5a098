/// How many bytes of a payload are whose. All counts are exact and known before anything is sealed.
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
