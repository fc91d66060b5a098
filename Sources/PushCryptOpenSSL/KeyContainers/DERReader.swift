/// Reads DER elements one after the other, in place.
///
/// OpenSSL's own decoders of private keys leave copies of the key in memory that they free unwiped; this one copies
/// nothing. It takes one byte of tag and the shortest form of a length, as DER has it, and nothing else.
struct DERReader: ~Escapable {
    /// Names the structure in errors.
    private let structure: StaticString
    private var rest: Span<UInt8>

    @_lifetime(copy bytes)
    init(_ bytes: Span<UInt8>, of structure: StaticString) {
        self.structure = structure
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether the next element has this tag.
    func isAt(_ tag: DER.Tag) -> Bool {
        !rest.isEmpty && rest[0] == tag.rawValue
    }

    /// The content of the next element, which must have this tag.
    @_lifetime(copy self)
    mutating func content(_ tag: DER.Tag) throws(KeyContainerError) -> Span<UInt8> {
        let headerCount = try headerByteCount(tag)
        return try element(tag).extracting(droppingFirst: headerCount)
    }

    /// The next element, tag and length included.
    @_lifetime(copy self)
    mutating func element(_ tag: DER.Tag) throws(KeyContainerError) -> Span<UInt8> {
        let headerCount = try headerByteCount(tag)
        let contentCount = try contentByteCount(headerCount)
        guard contentCount <= rest.count - headerCount else { throw malformed }
        let count = headerCount + contentCount
        let element = rest.extracting(first: count)
        rest = rest.extracting(droppingFirst: count)
        return element
    }

    /// A reader of the next element's content.
    @_lifetime(copy self)
    mutating func contents(_ tag: DER.Tag) throws(KeyContainerError) -> DERReader {
        DERReader(try content(tag), of: structure)
    }

    /// The bytes of a BIT STRING, which must have no unused bits.
    @_lifetime(copy self)
    mutating func bitString(_ tag: DER.Tag = .bitString) throws(KeyContainerError) -> Span<UInt8> {
        let content = try content(tag)
        guard !content.isEmpty, content[0] == 0 else { throw malformed }
        return content.extracting(droppingFirst: 1)
    }

    /// An INTEGER that isn't negative. One above `Int.max` is returned as that: every limit refuses it.
    mutating func integer() throws(KeyContainerError) -> Int {
        let content = try content(.integer)
        guard !content.isEmpty, content[0] < 0x80 else { throw malformed }
        guard content.count == 1 || content[0] != 0 || content[1] >= 0x80 else { throw malformed }
        let digits = content.extracting(droppingFirst: content[0] == 0 ? 1 : 0)
        guard digits.count < Int.bitWidth / 8 else { return .max }
        var value = 0
        for index in digits.indices {
            value = value << 8 | Int(digits[index])
        }
        return value
    }

    /// Refuses what is left over.
    func end() throws(KeyContainerError) {
        guard isAtEnd else { throw malformed }
    }

    var malformed: KeyContainerError {
        KeyContainerError(.malformed, "the \(structure) is cut off, has bytes left over or another structure")
    }

    private func headerByteCount(_ tag: DER.Tag) throws(KeyContainerError) -> Int {
        guard rest.count >= 2, isAt(tag) else { throw malformed }
        return rest[1] < 0x80 ? 2 : 2 + Int(rest[1] & 0x7f)
    }

    /// Lengths of up to three bytes; a container is shorter than that.
    private func contentByteCount(_ headerCount: Int) throws(KeyContainerError) -> Int {
        guard headerCount > 2 else {
            guard rest[1] < 0x80 else { throw malformed }
            return Int(rest[1])
        }
        guard headerCount <= 5, headerCount <= rest.count, rest[2] != 0 else { throw malformed }
        var count = 0
        for index in 2..<headerCount {
            count = count << 8 | Int(rest[index])
        }
        guard count > 0x7f else { throw malformed }
        return count
    }
}
