import PushCryptApple

/// Adds this page's recipes to the configuration that `configure()` returns.
func addRecipes(
    to configuration: inout ExtensionConfiguration, _ group: AppGroup,
    transport: any HTTPTransport = URLSessionTransport()
) throws {
    configuration.attachments = imageAddress(group, transport: transport)
    configuration.stages = [DefaultBody(), PictureCategory()]
    configuration.receipts = try deliveryReceipts(transport: transport)
    configuration.unsealed = .shown
}
