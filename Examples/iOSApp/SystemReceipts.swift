import PushCryptApple

/// Receipts that the system posts, although the extension is suspended: for `configuration.receipts`. This file belongs to
/// both targets.
nonisolated func systemReceipts(_ group: AppGroup) throws -> ReceiptPosting {
    try ReceiptPosting(
        to: "https://api.example.com/receipts", inBackground: BackgroundReceipts.shared(group), encoding: .form,
        userAgent: "Example/1.0")
}
