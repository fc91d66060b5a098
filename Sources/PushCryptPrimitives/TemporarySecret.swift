/// Calls `body` with `count` bytes of stack, zero at first, and wipes them when it ends, however it ends.
///
/// For the secrets of one message, which `SecretBytes` would keep on the heap.
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

/// The same with two secrets.
@inlinable
public func withTemporarySecrets<Result>(
    _ firstCount: Int, _ secondCount: Int,
    _ body: (inout MutableSpan<UInt8>, inout MutableSpan<UInt8>) throws -> Result
) rethrows -> Result {
    try withTemporarySecret(count: firstCount) { first in
        try withTemporarySecret(count: secondCount) { second in
            try body(&first, &second)
        }
    }
}

/// Overwrites bytes that were secret, in a way that the optimiser may not leave out.
public func wipe(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    guard let start = buffer.baseAddress else { return }
    #if canImport(Darwin)
    _ = unsafe memset_s(start, buffer.count, 0, buffer.count)
    #else
    unsafe explicit_bzero(start, buffer.count)
    #endif
}

extension MutableSpan<UInt8> {
    /// Writes a copy of `bytes` from `start` on, where there is room for all of them.
    @inlinable
    public mutating func write(_ bytes: Span<UInt8>, at start: Int = 0) {
        precondition(start >= 0 && bytes.count <= count - start)
        // Copied as a whole: reading bytes that were written one by one as a larger word stalls the processor.
        unsafe bytes.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { target in
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: source)
            }
        }
    }

    /// Writes the UTF-8 bytes of `text` from `start` on, where there is room for all of them.
    @inlinable
    public mutating func write(utf8 text: String, at start: Int) {
        let isWritten: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            write(unsafe Span(_unsafeElements: bytes), at: start)
        }
        if isWritten == nil { write(Array(text.utf8).bytes, at: start) }
    }
}
