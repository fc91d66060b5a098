/// Which bytes of an outer payload are what. The parts add up to the whole.
package struct PayloadAnatomy: Equatable, Sendable {
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
