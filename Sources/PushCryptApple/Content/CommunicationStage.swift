#if canImport(UserNotifications) && canImport(Intents) && !os(tvOS)
import Foundation
public import Intents
public import PushCryptExtension
import UserNotifications

/// The last stage of an app whose pushes are messages between people: the system shows the sender's picture and name, and lets
/// the sender through a Focus that allows them.
///
/// The app needs the capability Communication Notifications, and `INSendMessageIntent` under `NSUserActivityTypes` in its
/// Info.plist. The intent contains the names and the picture, and not the text. The system keeps it, for example for
/// suggestions in the share sheet; `INInteraction.delete(with:)` removes what was kept of a conversation.
public struct CommunicationStage: FinalStage {
    /// Who wrote the message, and in which conversation.
    public struct Message: Hashable, Sendable {
        /// A person, by a name in the app.
        public struct Person: Hashable, Sendable {
            /// What identifies the person in the app: a user name, a number or an address.
            public var handle: String
            /// The name that is shown.
            public var name: String
            /// The picture: the content of an image file. nil shows the sender's picture that came with the push,
            /// `OpenedPush.avatarPicture`, or the initials of the name.
            public var picture: [UInt8]?

            /// Creates a person.
            public init(handle: String, name: String, picture: [UInt8]? = nil) {
                (self.handle, self.name, self.picture) = (handle, name, picture)
            }
        }

        /// Who wrote the message.
        public var sender: Person
        /// What identifies the conversation in the app.
        public var conversationID: String
        /// The name of the group; nil for a conversation of two. Without ``recipients`` and ``recipientCount`` the system shows a
        /// conversation of two.
        public var groupName: String?
        /// The picture of the group: the content of an image file. It needs ``groupName``.
        public var groupPicture: [UInt8]?
        /// The other recipients, in a group: without the sender and the user.
        public var recipients: [Person]
        /// How many they are, if they aren't all in ``recipients``.
        public var recipientCount: Int?
        /// Whether the message mentions the user. It may then pass a Focus.
        public var mentionsUser = false
        /// Whether the message answers the user.
        public var repliesToUser = false

        /// Creates a message.
        public init(sender: Person, conversationID: String, groupName: String? = nil, recipients: [Person] = []) {
            self.sender = sender
            self.conversationID = conversationID
            self.groupName = groupName
            self.recipients = recipients
        }
    }

    /// Returns the message of a push; nil for a push that isn't a message.
    public typealias Read = @Sendable (OpenedPush) async throws -> Message?

    /// The name in diagnostics, `communication`.
    public let name = "communication"
    /// How long the stage may take; nil for the rest of the session's time.
    public let timeLimit: Duration?
    private let read: Read

    /// Creates a stage.
    ///
    /// - Parameter read: reads the message from the push, and can look up the picture.
    public init(timeLimit: Duration? = nil, _ read: @escaping Read) {
        self.timeLimit = timeLimit
        self.read = read
    }

    /// Returns the content as a communication notification, or unchanged for a push that isn't a message.
    ///
    /// - Throws: the error of the closure, or the system's error if it refuses the intent.
    public func finish(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        guard var message = try await read(push) else { return content }
        message.sender.picture = message.sender.picture ?? push.avatarPicture
        let intent = message.intent
        let interaction = INInteraction(intent: intent, response: nil)
        interaction.direction = .incoming
        // Without it the notification is shown all the same.
        try? await interaction.donate()
        return try content.finished(from: intent)
    }
}

extension CommunicationStage.Message {
    /// The intent of the message, for a ``FinishingStage`` of your own.
    public var intent: INSendMessageIntent {
        let intent = INSendMessageIntent(
            recipients: recipients.isEmpty ? nil : recipients.map(\.system), outgoingMessageType: .outgoingMessageText,
            content: nil, speakableGroupName: groupName.map(INSpeakableString.init(spokenPhrase:)),
            conversationIdentifier: conversationID, serviceName: nil, sender: sender.system, attachments: nil)
        if groupName != nil, let groupPicture {
            intent.setImage(INImage(imageData: Data(groupPicture)), forParameterNamed: \.speakableGroupName)
        }
        let metadata = INSendMessageIntentDonationMetadata()
        (metadata.mentionsCurrentUser, metadata.isReplyToCurrentUser) = (mentionsUser, repliesToUser)
        if let recipientCount { metadata.recipientCount = recipientCount }
        intent.donationMetadata = metadata
        return intent
    }
}

extension CommunicationStage.Message.Person {
    fileprivate var system: INPerson {
        INPerson(
            personHandle: INPersonHandle(value: handle, type: .unknown), nameComponents: nil, displayName: name,
            image: picture.map { INImage(imageData: Data($0)) }, contactIdentifier: nil, customIdentifier: nil)
    }
}
#endif
