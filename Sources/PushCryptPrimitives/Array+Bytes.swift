extension [UInt8] {
    /// The elements as a span, on every system that this package supports: `Array.span` needs those of 2025.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let buffer = unsafe withUnsafeBufferPointer { buffer in unsafe buffer }
            return unsafe _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
        }
    }

    /// A copy of `span`.
    public init(_ span: Span<UInt8>) {
        self.init()
        append(contentsOf: span)
    }

    /// `count` bytes, zero until `fill` writes them.
    @inlinable
    public init(count: Int, fill: (inout MutableSpan<UInt8>) throws -> Void) rethrows {
        self.init()
        try append(count: count, fill: fill)
    }

    /// Appends `count` bytes, zero until `fill` writes them; none where it throws.
    @inlinable
    public mutating func append(count: Int, fill: (inout MutableSpan<UInt8>) throws -> Void) rethrows {
        let start = self.count
        append(contentsOf: repeatElement(0, count: count))
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

    /// The eight bytes from `index` on, the first of them the lowest.
    @inlinable
    public func littleEndianWord(at index: Int) -> UInt64 {
        precondition(index >= 0 && index <= count - 8)
        return unsafe withUnsafeBytes { bytes in
            UInt64(littleEndian: unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        }
    }

    /// Appends a copy of `span`.
    public mutating func append(contentsOf span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
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
