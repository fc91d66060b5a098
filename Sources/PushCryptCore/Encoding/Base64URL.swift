package import PushCryptPrimitives

/// base64url without padding (RFC 4648 section 5), canonical in both directions.
package enum Base64URL {
    /// The number of characters that encode `count` bytes.
    package static func encodedCount(_ count: Int) -> Int { (count * 4 + 2) / 3 }

    /// The largest number of bytes whose encoding has at most `characters` characters.
    package static func decodedCapacity(_ characters: Int) -> Int { characters / 4 * 3 + max(characters % 4 - 1, 0) }

    package static func append(_ bytes: Span<UInt8>, to output: inout [UInt8]) {
        output.append(count: encodedCount(bytes.count)) { characters in encode(bytes, into: &characters) }
    }

    /// Encodes 12 bytes as 16 characters at a time; the last bytes are padded with zeros.
    private static func encode(_ bytes: Span<UInt8>, into characters: inout MutableSpan<UInt8>) {
        var (index, end) = (0, 0)
        while index < bytes.count {
            let values = SixteenCharacters.values(ofBytes: bytes.sixteen(at: index, filler: "\0"))
            let count = min(16, characters.count - end)
            characters.write(SixteenCharacters.characters(of: values), count: count, at: end)
            index += 12
            end += 16
        }
    }

    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var output = [UInt8]()
        append(bytes, to: &output)
        return output
    }

    package static func encode(_ bytes: [UInt8]) -> String { String(decoding: encode(bytes.bytes), as: UTF8.self) }

    /// Decodes `text`; nil for a foreign character, padding, white space, an impossible length, or trailing bits that are
    /// not zero, which would give one value several encodings.
    package static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var isCanonical = false
        let bytes = [UInt8](count: decodedCapacity(text.count)) { bytes in
            isCanonical = decode(text.bytes, into: &bytes)
        }
        return isCanonical ? bytes : nil
    }

    /// Decodes a secret without copying it anywhere but to the result.
    package static func decodeSecret(_ text: ArraySlice<UInt8>) -> SecretBytes? {
        var isCanonical = false
        let secret = SecretBytes(count: decodedCapacity(text.count)) { bytes in
            isCanonical = decode(text.bytes, into: &bytes)
        }
        return isCanonical ? secret : nil
    }

    /// Whether ``decode(_:)`` accepts `text`.
    package static func isCanonical(_ text: ArraySlice<UInt8>) -> Bool {
        withTemporarySecret(count: decodedCapacity(text.count)) { bytes in decode(text.bytes, into: &bytes) }
    }

    /// Decodes 16 characters to 12 bytes at a time; the last characters are padded with `A`, which is zero.
    /// - Parameter bytes: as many bytes as the text encodes.
    private static func decode(_ text: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) -> Bool {
        guard text.count % 4 != 1 else { return false }
        var (index, end) = (0, 0)
        var (foreign, last) = (SixteenCharacters.Lanes(), SixteenCharacters.Lanes())
        while index < text.count {
            let values = SixteenCharacters.values(of: text.sixteen(at: index, filler: "A"))
            foreign |= values
            last = SixteenCharacters.bytes(of: values)
            bytes.write(last, count: min(12, bytes.count - end), at: end)
            index += 16
            end += 12
        }
        let trailing = (bytes.count - end + 12..<12).reduce(0) { $0 | last[$1] }
        return foreign.min() >= 0 && trailing == 0
    }
}

/// 16 characters of base64url and the 12 bytes that they encode (RFC 4648 section 5, table 2).
///
/// ```
/// A-Z  0...25        a-z  26...51        0-9  52...61        -  62        _  63
/// ```
/// All lanes are computed at once, by arithmetic: no table index and no branch depends on a character, which may be part
/// of a secret. Bits are combined as two words, because the operators of 16 lanes take a call for each lane without optimization, as in
/// tests.
enum SixteenCharacters {
    typealias Lanes = SIMD16<Int8>
    private typealias Words = SIMD2<UInt64>

    /// The 6 bits of each character; negative for a character outside of the alphabet.
    @inline(__always)
    static func values(of characters: Lanes) -> Lanes {
        let (upper, lower) = (isIn("A", "Z", characters), isIn("a", "z", characters))
        let digit = isIn("0", "9", characters)
        let (minus, underscore) = (isIn("-", "-", characters), isIn("_", "_", characters))
        let distance =
            (upper & all(-65)) | (lower & all(-71)) | (digit & all(4)) | (minus & all(17)) | (underscore & all(-32))
        let isForeign = ~(upper | lower | digit | minus | underscore)
        return lanes(words(characters &+ lanes(distance)) | (isForeign & all(-128)))
    }

    /// - Parameter values: 0 to 63 each.
    @inline(__always)
    static func characters(of values: Lanes) -> Lanes {
        let (lower, digits) = (isAtLeast(26, values) & all(6), isAtLeast(52, values) & all(-75))
        let (minus, underscore) = (isAtLeast(62, values) & all(-13), isAtLeast(63, values) & all(49))
        let upper = values &+ Lanes(repeating: 65)
        return upper &+ lanes(lower) &+ lanes(digits) &+ lanes(minus) &+ lanes(underscore)
    }

    /// Packs 16 x 6 bits to 8 x 12, 4 x 24, 2 x 48 bits and then to 12 bytes, followed by 4 zeros.
    @inline(__always)
    static func bytes(of values: Lanes) -> Lanes {
        let (sixBits, twelveBits) = (Words(repeating: 0x003f_003f_003f_003f), Words(repeating: 0x0000_0fff_0000_0fff))
        let six = words(values)
        let twelve = left(six & sixBits, 6) | (right(six, 8) & sixBits)
        let twentyFour = left(twelve & twelveBits, 12) | (right(twelve, 16) & twelveBits)
        let (first, last) = (twentyFour[0] << 40 | (twentyFour[0] >> 32) << 16, twentyFour[1])
        let end = last << 56 | (last >> 32) << 32
        return lanes(Words((first | (last & 0xff_ffff) >> 8).bigEndian, end.bigEndian))
    }

    /// - Parameter bytes: 12 bytes; the other 4 are ignored.
    @inline(__always)
    static func values(ofBytes bytes: Lanes) -> Lanes {
        let (sixBits, twelveBits) = (Words(repeating: 0x003f_003f_003f_003f), Words(repeating: 0x0000_0fff_0000_0fff))
        let words = words(bytes)
        let (first, last) = (UInt64(bigEndian: words[0]), UInt64(bigEndian: words[1]))
        let middle = (first & 0xffff) << 8 | last >> 56
        let twentyFour = Words(
            first >> 40 | (first >> 16 & 0xff_ffff) << 32, middle | (last >> 32 & 0xff_ffff) << 32)
        let twelve = (right(twentyFour, 12) & twelveBits) | left(twentyFour & twelveBits, 16)
        return lanes((right(twelve, 6) & sixBits) | left(twelve & sixBits, 8))
    }

    /// -1 in each lane with one of `first` to `last`, 0 in the others. All of them are ASCII.
    @inline(__always)
    private static func isIn(_ first: Unicode.Scalar, _ last: Unicode.Scalar, _ characters: Lanes) -> Words {
        let (first, next) = (Int8(truncatingIfNeeded: first.value), Int8(truncatingIfNeeded: last.value) + 1)
        return isAtLeast(first, characters) ^ isAtLeast(next, characters)
    }

    /// -1 in each lane that is at least `limit`, 0 in the others.
    @inline(__always)
    private static func isAtLeast(_ limit: Int8, _ lanes: Lanes) -> Words {
        unsafe unsafeBitCast(lanes .>= Lanes(repeating: limit), to: Words.self)
    }

    @inline(__always)
    private static func all(_ value: Int8) -> Words { words(Lanes(repeating: value)) }

    @inline(__always)
    private static func words(_ lanes: Lanes) -> Words { unsafe unsafeBitCast(lanes, to: Words.self) }

    @inline(__always)
    private static func lanes(_ words: Words) -> Lanes { unsafe unsafeBitCast(words, to: Lanes.self) }

    @inline(__always)
    private static func left(_ words: Words, _ count: UInt64) -> Words { words &<< Words(repeating: count) }

    @inline(__always)
    private static func right(_ words: Words, _ count: UInt64) -> Words { words &>> Words(repeating: count) }
}

extension Span<UInt8> {
    /// The 16 bytes from `index` on, with `filler` after the end.
    @inline(__always)
    func sixteen(at index: Int, filler: Unicode.Scalar) -> SixteenCharacters.Lanes {
        if index <= count - 16 {
            return unsafe unsafeBitCast(littleEndianWords(at: index), to: SixteenCharacters.Lanes.self)
        }
        var lanes = SixteenCharacters.Lanes(repeating: Int8(truncatingIfNeeded: filler.value))
        for lane in 0..<count - index { lanes[lane] = Int8(bitPattern: self[index + lane]) }
        return lanes
    }
}

extension MutableSpan<UInt8> {
    /// Writes the first `count` of 16 bytes at `index`, or all 16 if there is room for them.
    @inline(__always)
    mutating func write(_ lanes: SixteenCharacters.Lanes, count: Int, at index: Int) {
        if index <= self.count - 16 {
            unsafe withUnsafeMutableBytes { bytes in
                unsafe bytes.storeBytes(of: lanes, toByteOffset: index, as: SixteenCharacters.Lanes.self)
            }
        } else {
            for lane in 0..<count { self[index + lane] = UInt8(bitPattern: lanes[lane]) }
        }
    }
}

/// Base64 (RFC 4648 section 4) of bytes that may be secret. It leaves no copy of them in memory.
package enum Base64 {
    /// The accepted texts.
    package enum Variant: Sendable {
        /// The standard alphabet, with padding, as in PEM.
        case padded
        /// The standard or the URL-safe alphabet, with or without padding.
        case any
    }

    /// Encodes with padding. The caller wipes the text if the bytes are secret.
    package static func encode(_ bytes: Span<UInt8>) -> [UInt8] {
        var text = [UInt8]()
        // An array that grows would leave copies of a secret in memory.
        text.reserveCapacity(4 + bytes.count * 4 / 3)
        Base64URL.append(bytes, to: &text)
        for index in text.indices {
            if text[index] == UInt8(ascii: "-") { text[index] = UInt8(ascii: "+") }
            if text[index] == UInt8(ascii: "_") { text[index] = UInt8(ascii: "/") }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return text
    }

    /// Decodes `text`, ignoring white space; nil for an empty text and for one that isn't canonical.
    package static func decode(_ text: Span<UInt8>, _ variant: Variant) -> SecretBytes? {
        var characters = [UInt8]()
        characters.reserveCapacity(text.count)
        defer { wipe(&characters) }
        for index in text.indices where !text[index].isWhiteSpace { characters.append(text[index]) }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding <= 2, characters.count > padding else { return nil }
        guard variant == .any || characters.count.isMultiple(of: 4) else { return nil }
        characters.removeLast(padding)
        for index in characters.indices {
            switch characters[index] {
            case UInt8(ascii: "+"): characters[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): characters[index] = UInt8(ascii: "_")
            case UInt8(ascii: "-"), UInt8(ascii: "_"):
                guard variant == .any else { return nil }
            default: break
            }
        }
        return Base64URL.decodeSecret(characters[...])
    }
}

extension UInt8 {
    /// Space, tab, line feed, vertical tab, form feed or carriage return (RFC 7468 section 3).
    package var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}
