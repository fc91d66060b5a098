import PushCryptApple

/// Tells your server about each push, by its `push_id`. The extension uses the role `.extension`, the app the role `.app`.
func deliveryReceipts(
    _ group: AppGroup, _ role: SharedStore.Role, transport: any HTTPTransport = URLSessionTransport()
) -> ReceiptSender {
    ReceiptSender(store: group.store(role), address: "https://api.example.com/receipts", transport: transport)
}
