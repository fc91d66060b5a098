import PushCryptPrimitives

/// Sixteen characters of base64url and the twelve bytes that they stand for (RFC 4648 section 5, table 2).
///
/// ```
/// A-Z  0...25        a-z  26...51        0-9  52...61        -  62        _  63
/// ```
/// All are worked on at once, each in its lane, by arithmetic: no table is indexed with what may be part of a secret, and no
/// branch taken on it.
enum SixteenCharacters {
    typealias Lanes = SIMD16<Int8>

    /// The 6 bits of each character; below zero for what is not of the alphabet.
    @inline(__always)
    static func values(of characters: Lanes) -> Lanes {
        let (upper, lower) = (isIn("A", "Z", characters), isIn("a", "z", characters))
        let digit = isIn("0", "9", characters)
        let (minus, underscore) = (isIn("-", "-", characters), isIn("_", "_", characters))
        let distance = (upper & -65) | (lower & -71) | (digit & 4) | (minus & 17) | (underscore & -32)
        let isForeign = ~(upper | lower | digit | minus | underscore) | characters
        return (characters &+ distance) | (isForeign & -128)
    }

    /// - Parameter values: 0 to 63 each.
    @inline(__always)
    static func characters(of values: Lanes) -> Lanes {
        let (lower, digits) = (isAtLeast(26, values) & 6, isAtLeast(52, values) & -75)
        let (minus, underscore) = (isAtLeast(62, values) & -13, isAtLeast(63, values) & 49)
        return values &+ 65 &+ lower &+ digits &+ minus &+ underscore
    }

    /// 16 x 6 bits to 8 x 12, 4 x 24, 2 x 48 and 12 bytes, four zeros behind them.
    @inline(__always)
    static func bytes(of values: Lanes) -> Lanes {
        let six = unsafe unsafeBitCast(values, to: SIMD2<UInt64>.self)
        let twelve = (six & 0x003f_003f_003f_003f) &<< 6 | (six &>> 8) & 0x003f_003f_003f_003f
        let twentyFour = (twelve & 0x0000_0fff_0000_0fff) &<< 12 | (twelve &>> 16) & 0x0000_0fff_0000_0fff
        let halves = (twentyFour & 0xff_ffff) &<< 24 | twentyFour &>> 32
        let words = SIMD2((halves[0] << 16 | halves[1] >> 32).bigEndian, (halves[1] << 32).bigEndian)
        return unsafe unsafeBitCast(words, to: Lanes.self)
    }

    /// - Parameter bytes: twelve, what is behind them counts for nothing.
    @inline(__always)
    static func values(ofBytes bytes: Lanes) -> Lanes {
        let words = unsafe unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
        let (first, last) = (UInt64(bigEndian: words[0]), UInt64(bigEndian: words[1]))
        let halves = SIMD2(first >> 16, (first & 0xffff) << 32 | last >> 32)
        let twentyFour = halves &>> 24 | (halves & 0xff_ffff) &<< 32
        let twelve = (twentyFour &>> 12) & 0x0000_0fff_0000_0fff | (twentyFour & 0x0000_0fff_0000_0fff) &<< 16
        let six = (twelve &>> 6) & 0x003f_003f_003f_003f | (twelve & 0x003f_003f_003f_003f) &<< 8
        return unsafe unsafeBitCast(six, to: Lanes.self)
    }

    /// -1 for each that is one of `first` to `last`, 0 for the others. All of them are ASCII.
    @inline(__always)
    private static func isIn(_ first: Unicode.Scalar, _ last: Unicode.Scalar, _ characters: Lanes) -> Lanes {
        let (first, next) = (Int8(truncatingIfNeeded: first.value), Int8(truncatingIfNeeded: last.value) + 1)
        return isAtLeast(first, characters) ^ isAtLeast(next, characters)
    }

    /// -1 for each that is, 0 for the others. `limit` and all lanes are 0 to 127.
    @inline(__always)
    private static func isAtLeast(_ limit: Int8, _ lanes: Lanes) -> Lanes {
        (lanes &+ (Int8.min &- limit)) &>> 7
    }
}

extension Span<UInt8> {
    /// Sixteen bytes from `index` on, with `filler` for each behind the end.
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
    /// Writes the first of sixteen bytes from `index` on; the others too, where there is room for all.
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
