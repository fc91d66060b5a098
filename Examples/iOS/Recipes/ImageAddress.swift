import PushCryptApple

/// Attaches the file that `image_url` of the sealed payload names, after the encrypted attachments.
nonisolated func imageAddress(_ group: AppGroup, transport: any HTTPTransport = URLSessionTransport())
    -> AttachmentStage
{
    AttachmentStage(
        configuration: .init(folder: group.path(of: "attachments"), plainMembers: ["image_url"]), transport: transport)
}
