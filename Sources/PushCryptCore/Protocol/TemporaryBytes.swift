import PushCryptPrimitives

/// Bytes that are assembled on the stack, as the input of a key derivation or a digest.
struct TemporaryBytes: ~Copyable, ~Escapable {
    private var storage: MutableSpan<UInt8>
    private var count = 0

    @_lifetime(copy storage)
    fileprivate init(_ storage: consuming MutableSpan<UInt8>) {
        self.storage = storage
    }

    /// What was appended so far.
    var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(first: count) }
    }

    mutating func append(_ byte: UInt8) {
        storage[count] = byte
        count += 1
    }

    mutating func append(_ text: String) {
        storage.write(utf8: text, at: count)
        count += text.utf8.count
    }

    /// `lp16(x) = u16 big-endian length || UTF-8 bytes of x`
    ///
    /// Every caller passes a bounded string (a kid, a topic, a device id), far below 65,536 bytes.
    mutating func append(lengthPrefixed text: String) {
        let count = text.utf8.count
        precondition(count <= Int(UInt16.max))
        append(UInt8(count >> 8))
        append(UInt8(count & 0xff))
        append(text)
    }
}

/// Calls `body` with room for `capacity` bytes; to append more is a programming error.
func withTemporaryBytes<Result, Failure>(
    capacity: Int, _ body: (inout TemporaryBytes) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withTemporarySecret(count: capacity) { storage throws(Failure) in
        var bytes = TemporaryBytes(storage)
        storage = MutableSpan()
        return try body(&bytes)
    }
}
