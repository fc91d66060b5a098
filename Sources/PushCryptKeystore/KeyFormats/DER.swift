import PushCryptPrimitives

/// The tags and the writer of DER (X.690).
enum DER {
    static let integer: UInt8 = 0x02
    static let bits: UInt8 = 0x03
    static let octets: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30

    /// An element whose contents have less than 64 KiB. It must not get a private key: the arrays aren't wiped.
    static func element(_ tag: UInt8, _ contents: [UInt8]...) -> [UInt8] {
        let count = contents.reduce(0) { $0 + $1.count }
        let length =
            count < 0x80
            ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xff)]
        return [tag] + length + contents.joined()
    }
}

/// Reads the elements of DER one after the other, and copies no contents: a private key stays in memory that the caller wipes.
/// (OpenSSL's decoders of private keys leave a copy in freed memory.)
struct DERReader: ~Escapable {
    private let bytes: Span<UInt8>
    private let structure: StaticString
    private var position = 0

    /// - Parameter structure: what `bytes` are, for messages.
    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, _ structure: StaticString) {
        self.bytes = bytes
        self.structure = structure
    }

    /// The tag of the next element; nil after the last one.
    var tag: UInt8? { position < bytes.count ? bytes[position] : nil }

    var malformed: KeyContainerError {
        KeyContainerError(.malformed, "the \(structure) is cut off, has bytes left over or another structure")
    }

    /// The contents of the next element.
    ///
    /// - Throws: `KeyContainerError` with `malformed` for another tag, or a length that isn't in its shortest form or too long.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    mutating func next(_ tag: UInt8) throws(KeyContainerError) -> Span<UInt8> {
        guard self.tag == tag, position + 1 < bytes.count else { throw malformed }
        var count = Int(bytes[position + 1])
        position += 2
        if count >= 0x80 {
            let byteCount = count - 0x80
            guard (1...3).contains(byteCount), position + byteCount <= bytes.count else { throw malformed }
            count = 0
            for _ in 0..<byteCount {
                count = count << 8 | Int(bytes[position])
                position += 1
            }
            guard count >= 0x80, count >> (8 * (byteCount - 1)) > 0 else { throw malformed }
        }
        guard count <= bytes.count - position else { throw malformed }
        defer { position += count }
        return bytes.extracting(position..<position + count)
    }

    /// The members of the next element.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    mutating func members(_ tag: UInt8 = DER.sequence) throws(KeyContainerError) -> DERReader {
        DERReader(try next(tag), structure)
    }

    /// The next element, a nonnegative INTEGER; `Int.max`, which every limit refuses, for one of more than 7 bytes.
    @_lifetime(self: copy self)
    mutating func integer() throws(KeyContainerError) -> Int {
        let digits = try next(DER.integer)
        guard !digits.isEmpty, digits[0] < 0x80, digits.count == 1 || digits[0] > 0 || digits[1] >= 0x80 else {
            throw malformed
        }
        guard digits.count < Int.bitWidth / 8 else { return .max }
        var number = 0
        for index in digits.indices { number = number << 8 | Int(digits[index]) }
        return number
    }

    /// The next element, an OBJECT IDENTIFIER, with its tag and length.
    @_lifetime(self: copy self)
    mutating func objectIdentifier() throws(KeyContainerError) -> [UInt8] {
        DER.element(DER.objectIdentifier, Array(try next(DER.objectIdentifier)))
    }

    /// The next element, a BIT STRING of whole bytes.
    @_lifetime(copy self)
    @_lifetime(self: copy self)
    mutating func wholeBytes(_ tag: UInt8 = DER.bits) throws(KeyContainerError) -> Span<UInt8> {
        let contents = try next(tag)
        guard !contents.isEmpty, contents[0] == 0 else { throw malformed }
        return contents.extracting(droppingFirst: 1)
    }

    /// - Throws: `KeyContainerError` with `malformed` if bytes are left.
    func end() throws(KeyContainerError) {
        guard position == bytes.count else { throw malformed }
    }
}
