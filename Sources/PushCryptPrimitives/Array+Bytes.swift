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

    /// Appends a copy of `span`.
    public mutating func append(contentsOf span: Span<UInt8>) {
        unsafe span.withUnsafeBufferPointer { buffer in unsafe append(contentsOf: buffer) }
    }
}
