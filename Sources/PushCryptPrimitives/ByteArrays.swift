/// Without optimization, as in tests, `repeatElement` takes a call for each byte.
@usableFromInline let zeros = [UInt8](repeating: 0, count: 4_096)

extension [UInt8] {
    /// The elements as a span. The standard library's `Array.span` needs the operating systems of 2025.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let buffer = unsafe withUnsafeBufferPointer { buffer in unsafe buffer }
            return unsafe _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
        }
    }

    /// Copies `span`.
    public init(_ span: Span<UInt8>) {
        self.init()
        append(contentsOf: span)
    }

    /// Makes `count` bytes, which are zero until `fill` writes them.
    @inlinable
    public init(count: Int, fill: (inout MutableSpan<UInt8>) throws -> Void) rethrows {
        self.init(repeating: 0, count: count)
        try unsafe withUnsafeMutableBufferPointer { buffer in
            var bytes = unsafe MutableSpan(_unsafeElements: buffer)
            try fill(&bytes)
        }
    }

    /// Appends `count` bytes, which are zero until `fill` writes them. Appends nothing if `fill` throws.
    @inlinable
    public mutating func append(count: Int, fill: (inout MutableSpan<UInt8>) throws -> Void) rethrows {
        let start = self.count
        var missing = count
        while missing > 0 {
            let next = Swift.min(missing, zeros.count)
            append(contentsOf: zeros[..<next])
            missing -= next
        }
        do {
            try unsafe withUnsafeMutableBufferPointer { buffer in
                var bytes = unsafe MutableSpan(_unsafeElements: buffer.extracting(start...))
                try fill(&bytes)
            }
        } catch {
            removeLast(count)
            throw error
        }
    }

    /// Appends a copy of `span`.
    public mutating func append(contentsOf span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }
}

extension Span<UInt8> {
    /// The 16 bytes from `index` on as two little-endian integers.
    @inlinable
    public func littleEndianWords(at index: Int) -> SIMD2<UInt64> {
        let words = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: SIMD2<UInt64>.self)
        return SIMD2(UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
    }

    /// Whether these are the UTF-8 bytes of `text`.
    public func isEqual(utf8 text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        let isEqual = unsafe text.utf8.withContiguousStorageIfAvailable { wanted in
            unsafe withUnsafeBytes { bytes in
                unsafe wanted.isEmpty || memcmp(bytes.baseAddress!, wanted.baseAddress!, wanted.count) == 0
            }
        }
        return isEqual ?? text.utf8.elementsEqual([UInt8](self))
    }
}

extension String {
    /// Decodes UTF-8; invalid bytes become U+FFFD.
    public init(utf8: Span<UInt8>) {
        self = unsafe utf8.withUnsafeBufferPointer { bytes in unsafe String(decoding: bytes, as: UTF8.self) }
    }
}

extension ArraySlice<UInt8> {
    /// The elements as a span.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let buffer = unsafe withUnsafeBufferPointer { buffer in unsafe buffer }
            return unsafe _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
        }
    }
}

extension HMACSHA256 {
    /// Adds one byte to the message.
    public func update(_ byte: UInt8) {
        unsafe withUnsafePointer(to: byte) { pointer in update(unsafe Span(_unsafeStart: pointer, count: 1)) }
    }

    /// Adds the UTF-8 bytes of a literal to the message, such as the label of a key derivation.
    public func update(_ label: StaticString) {
        label.withUTF8Buffer { bytes in update(unsafe Span(_unsafeElements: bytes)) }
    }
}
