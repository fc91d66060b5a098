/// Key material: not printable, compared in constant time, wiped when it is freed.
///
/// The code is unsafe because safe Swift has no wipe that the optimiser must keep.
@safe
public final class SecretBytes: @unchecked Sendable {
    // Unchecked because of the pointer. Only the initialiser writes to its bytes.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Makes `count` bytes, which are zero until `fill` writes them.
    ///
    /// - Throws: the error of `fill`; the bytes written until then are wiped.
    public init(count: Int, fill: (inout MutableSpan<UInt8>) throws -> Void) rethrows {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
        var bytes = unsafe MutableSpan(_unsafeElements: storage)
        try fill(&bytes)
    }

    /// Copies `bytes`.
    public convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count) { target in
            for index in bytes.indices { target[index] = bytes[index] }
        }
    }

    deinit {
        unsafe wipe(storage)
        unsafe storage.deallocate()
    }

    /// The length in bytes.
    public var count: Int { unsafe storage.count }

    /// The bytes, while this object is borrowed.
    public var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            let span = unsafe Span(_unsafeElements: UnsafeBufferPointer(storage))
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }
}

extension SecretBytes: Equatable {
    /// Compares the contents in constant time. The lengths are not secret.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool { constantTimeEqual(left.bytes, right.bytes) }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The length, never the bytes.
    public var description: String { "SecretBytes(\(count) bytes, redacted)" }
    /// The length, never the bytes.
    public var debugDescription: String { description }
    /// A mirror without members, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares without a branch on the contents. Spans of different lengths are unequal.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}

/// Whether all bytes are zero, without a branch on the contents.
public func constantTimeIsZero(_ bytes: Span<UInt8>) -> Bool {
    var union: UInt8 = 0
    for index in bytes.indices { union |= bytes[index] }
    return union == 0
}

/// Overwrites and empties an array of secret bytes, such as a serialised key.
public func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in unsafe wipe(buffer) }
    bytes.removeAll(keepingCapacity: false)
}

/// Calls `body` with `count` zero bytes on the stack, and wipes them when `body` returns or throws.
@inlinable
public func withTemporarySecret<Result, Failure>(
    count: Int, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { buffer throws(Failure) in
        unsafe buffer.initialize(repeating: 0)
        defer { unsafe wipe(buffer) }
        var bytes = unsafe MutableSpan(_unsafeElements: buffer)
        return try body(&bytes)
    }
}

/// Calls `body` with two temporary secrets.
@inlinable
public func withTemporarySecrets<Result>(
    _ firstCount: Int, _ secondCount: Int,
    _ body: (inout MutableSpan<UInt8>, inout MutableSpan<UInt8>) throws -> Result
) rethrows -> Result {
    try withTemporarySecret(count: firstCount) { first in
        try withTemporarySecret(count: secondCount) { second in try body(&first, &second) }
    }
}

/// Overwrites secret bytes; the optimiser can't remove the call.
public func wipe(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    guard let start = buffer.baseAddress else { return }
    #if canImport(Darwin)
    _ = unsafe memset_s(start, buffer.count, 0, buffer.count)
    #else
    unsafe explicit_bzero(start, buffer.count)
    #endif
}

extension MutableSpan<UInt8> {
    /// Copies `bytes` to `start` and the bytes after it. The span must have room for all of them.
    @inlinable
    public mutating func write(_ bytes: Span<UInt8>, at start: Int = 0) {
        precondition(start >= 0 && bytes.count <= count - start)
        // A single copy: if the bytes were written one by one, a processor would stall when it reads them as one integer.
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: source)
            }
        }
    }

    /// Copies the UTF-8 bytes of `text` to `start` and the bytes after it. The span must have room for all of them.
    @inlinable
    public mutating func write(utf8 text: String, at start: Int) {
        let isWritten: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            write(unsafe Span(_unsafeElements: bytes), at: start)
        }
        if isWritten == nil { write(Array(text.utf8).bytes, at: start) }
    }
}
