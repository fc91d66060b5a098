import PushCryptPrimitives

/// A file that is being written, with a name that says so. Whoever makes one ends it: ``publish(extension:)`` or
/// ``remove()``, once.
struct PartFile: Sendable {
    private let stem: String
    private let descriptor: Int32

    var path: String { stem + ".part" }

    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`.
    init(_ stem: String) throws(AttachmentError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = unsafe open(stem + ".part", flags, 0o600)
        guard descriptor >= 0 else { throw .failure("make a file") }
        self.init(stem, descriptor: descriptor)
    }

    /// - Parameter descriptor: open for writing; this value closes it.
    init(_ stem: String, descriptor: Int32) {
        self.stem = stem
        self.descriptor = descriptor
    }

    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`; a part may have been written.
    func write(_ bytes: [UInt8]) throws(AttachmentError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe writeBytes(descriptor, buffer.baseAddress! + written, buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .failure("write") }
            written += count
        }
    }

    /// Gives the file its name. It is not made to outlast a power failure: neither does its notification.
    ///
    /// - Returns: its path.
    /// - Throws: `AttachmentError` with `noSpace`, `inputOutput`; the file is gone then.
    func publish(extension fileExtension: String) throws(AttachmentError) -> String {
        close(descriptor)
        let name = stem + "." + fileExtension
        guard unsafe rename(path, name) == 0 else {
            let error = AttachmentError.failure("rename the file")
            unsafe unlink(path)
            throw error
        }
        return name
    }

    func remove() {
        close(descriptor)
        unsafe unlink(path)
    }
}

extension AttachmentError {
    /// What errno says of a call that failed.
    static func failure(_ verb: String) -> AttachmentError {
        let number = errno
        let code: Code = [ENOSPC, EDQUOT].contains(number) ? .noSpace : .inputOutput
        return AttachmentError(code, "can't \(verb): \(unsafe String(cString: strerror(number)))")
    }
}

/// write(2), which a method hides by its name.
private func writeBytes(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int {
    unsafe write(descriptor, start, count)
}
