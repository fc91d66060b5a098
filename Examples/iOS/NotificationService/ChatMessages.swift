import PushCryptApple

/// Shows messages with the picture that the app stored for their sender. Other pushes are shown unchanged.
nonisolated func chatMessages(
    picture: @escaping @Sendable (_ user: String) async throws -> [UInt8]?
) -> CommunicationStage {
    CommunicationStage(timeLimit: .seconds(5)) { push in
        let info = UserInfoJSON.dictionary(push.payload)
        guard let user = info["user"] as? String, let name = info["name"] as? String,
            let chat = info["chat"] as? String
        else { return nil }
        let sender = CommunicationStage.Message.Person(handle: user, name: name, picture: try await picture(user))
        var message = CommunicationStage.Message(sender: sender, conversationID: chat)
        // In a group: its name, and the number of members without the sender and the user.
        message.groupName = info["group"] as? String
        message.recipientCount = info["others"] as? Int
        return message
    }
}
