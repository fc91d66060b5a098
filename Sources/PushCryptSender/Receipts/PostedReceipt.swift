public import PushCryptCore

/// The backend's side of receipts (PROTOCOL section 12). Anyone who can connect can post a receipt. Use receipts for statistics,
/// and base no important decision on them.
extension Receipt {
    /// Reads a receipt that a device has posted as JSON.
    ///
    /// ```
    /// let receipt = try Receipt(json: body)
    /// if let name = receipt.name { … }          // the SealedPush whose receiptName is equal
    /// ```
    /// - Parameter json: the body of the request, UTF-8 JSON of at most 4,096 bytes.
    /// - Throws: `SenderError` with `malformed`.
    public init(json: some Collection<UInt8>) throws(SenderError) {
        try Self.checkLength(json.count)
        do { try self.init(readingJSON: Array(json)) } catch { throw SenderError(.malformed, error.reason) }
    }

    /// Reads a receipt that a device has posted as `application/x-www-form-urlencoded`.
    ///
    /// - Parameter form: the body of the request, at most 4,096 bytes.
    /// - Throws: `SenderError` with `malformed`.
    public init(form: some Collection<UInt8>) throws(SenderError) {
        try Self.checkLength(form.count)
        do { try self.init(readingForm: Array(form)) } catch { throw SenderError(.malformed, error.reason) }
    }

    /// Call it before the bytes are copied.
    private static func checkLength(_ count: Int) throws(SenderError) {
        guard count <= maximumByteCount else {
            throw SenderError(.malformed, "a receipt has at most \(maximumByteCount) bytes")
        }
    }
}

extension SealedPush {
    /// The name of the push in receipts, never nil for a push that this library sealed. A receipt has it as `Receipt.name`.
    public var receiptName: ReceiptName? { ReceiptName(messageID: id) }
}
