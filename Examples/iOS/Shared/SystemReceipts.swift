import PushCryptApple

/// Receipts that the system posts, although the extension is suspended. This file belongs to the app and to its extension.
nonisolated func systemReceipts(_ group: AppGroup) throws -> ReceiptPosting {
    try ReceiptPosting(
        to: "https://api.example.com/receipts", inBackground: BackgroundReceipts.shared(group), encoding: .form,
        userAgent: "Example/1.0")
}
