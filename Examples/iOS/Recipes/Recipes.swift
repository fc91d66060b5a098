import PushCryptApple

/// Adds the stages and the receipts of this page to the configuration that `configure()` returns.
nonisolated func addRecipes(
    to configuration: inout ExtensionConfiguration, transport: any HTTPTransport = URLSessionTransport()
) throws {
    configuration.stages += [DefaultBody(), PictureCategory()]
    configuration.receipts = try deliveryReceipts(transport: transport)
}
