import PushCryptApple

/// Tells your server about each push, by its `push_id`, as a form with a user agent of its own.
nonisolated func deliveryReceipts(transport: any HTTPTransport = URLSessionTransport()) throws -> ReceiptPosting {
    try ReceiptPosting(
        to: "https://api.example.com/receipts", transport: transport, encoding: .form, userAgent: "Example/1.0")
}
