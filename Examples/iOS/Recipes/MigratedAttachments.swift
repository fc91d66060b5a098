import PushCryptApple

/// Attaches the files that a payload of OneSignal (`att`: an address for each id) or of FCM (`fcm_options.image`) names.
struct MigratedAttachments: ContentStage {
    let folder: String
    let transport: any HTTPTransport
    let timeLimit: Duration? = .seconds(15)

    init(_ group: AppGroup, transport: any HTTPTransport = URLSessionTransport()) {
        folder = group.path(of: "attachments")
        self.transport = transport
    }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        try await stage(for: push).process(content, of: push)
    }

    func stage(for push: OpenedPush) -> AttachmentStage {
        let files = UserInfoJSON.dictionary(push.payload)["att"] as? [String: Any] ?? [:]
        let members = files.keys.sorted().map { "att." + $0 } + ["fcm_options.image"]
        return AttachmentStage(
            configuration: .init(folder: folder, plainMembers: members), transport: transport)
    }
}
