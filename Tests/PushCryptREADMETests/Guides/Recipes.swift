import PushCryptApple

/// Adds this page's recipes to the configuration that `configure()` returns.
func addRecipes(
    to configuration: inout ExtensionConfiguration, _ group: AppGroup,
    transport: any HTTPTransport = URLSessionTransport()
) {
    configuration.attachments = imageAddress(group, transport: transport)
    configuration.stages = [DefaultBody(), PictureCategory()]
    configuration.receipts = deliveryReceipts(group, .extension, transport: transport)
    configuration.unsealed = .shown
}
