public import PushCryptExtension

/// Replaces the number in the title of a push by the name that the user has given it.
public struct ContactNames: ContentStage {
    private let names: [String: String]

    public init(_ names: [String: String]) { self.names = names }

    public func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        if let name = content.title.literal.flatMap({ names[$0] }) { content.title.literal = name }
        return content
    }
}
