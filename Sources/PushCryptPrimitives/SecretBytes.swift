/// Key material: not printable, compared in constant time, wiped when the last reference goes.
///
/// One of the few files outside the OpenSSL backend with unsafe code: a wipe that the optimiser may not remove has no safe
/// spelling.
@safe
public final class SecretBytes: @unchecked Sendable {
    // Unchecked because of the pointer: it is written in the initialisers only.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// `count` bytes, zero until `fill` writes them.
    ///
    /// - Throws: what `fill` throws; the bytes written so far are wiped.
    public init(count: Int, fill: (inout MutableSpan<UInt8>) throws -> Void) rethrows {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
        var bytes = unsafe MutableSpan(_unsafeElements: storage)
        try fill(&bytes)
    }

    /// A copy of `bytes`.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { target in
            for index in bytes.indices {
                target[index] = bytes[index]
            }
        }
    }

    deinit {
        unsafe wipe(storage)
        unsafe storage.deallocate()
    }

    /// The length in bytes.
    public var count: Int { unsafe storage.count }

    /// The bytes, for as long as this object is borrowed.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span(_unsafeElements: UnsafeBufferPointer(storage))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }
}

extension SecretBytes: Equatable {
    /// Constant time in the contents; the lengths are not secret.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        constantTimeEqual(left.bytes, right.bytes)
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, never the bytes.
    public var description: String { "SecretBytes(\(count) bytes, redacted)" }
    /// The length, never the bytes.
    public var debugDescription: String { description }
    /// No members: a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares without a branch on the contents. Spans of different length are unequal.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices {
        difference |= left[index] ^ right[index]
    }
    return difference == 0
}

/// Whether all bytes are zero, without a branch on the contents.
public func constantTimeIsZero(_ bytes: Span<UInt8>) -> Bool {
    var union: UInt8 = 0
    for index in bytes.indices {
        union |= bytes[index]
    }
    return union == 0
}

/// Overwrites an array that held secret bytes for a moment (a serialised key on its way to a file).
public func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in unsafe wipe(buffer) }
    bytes.removeAll(keepingCapacity: false)
}
