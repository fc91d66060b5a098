public import Foundation
public import UserNotifications

// The part of Apple's documented API that PushCryptApple uses, for systems without the framework. No product depends on it.

public enum INPersonHandleType: Int, Sendable {
    case unknown, emailAddress, phoneNumber
}

open class INPersonHandle: NSObject {
    open var value: String?
    open var type: INPersonHandleType

    public init(value: String?, type: INPersonHandleType) {
        self.value = value
        self.type = type
    }
}

open class INImage: NSObject {
    /// Apple's class doesn't expose the data.
    public let stubData: Data

    public init(imageData: Data) { stubData = imageData }
}

open class INPerson: NSObject {
    public let personHandle: INPersonHandle?
    public let displayName: String
    public let image: INImage?

    public init(
        personHandle: INPersonHandle, nameComponents: PersonNameComponents?, displayName: String?, image: INImage?,
        contactIdentifier: String?, customIdentifier: String?
    ) {
        self.personHandle = personHandle
        self.displayName = displayName ?? ""
        self.image = image
    }
}

open class INSpeakableString: NSObject {
    public let spokenPhrase: String

    public init(spokenPhrase: String) { self.spokenPhrase = spokenPhrase }
}

open class INSendMessageAttachment: NSObject {}

public enum INOutgoingMessageType: Int, Sendable {
    case unknown, outgoingMessageText, outgoingMessageAudio
}

open class INIntent: NSObject {}

open class INIntentResponse: NSObject {}

open class INSendMessageIntent: INIntent, UNNotificationContentProviding {
    public let recipients: [INPerson]?
    public let content: String?
    public let speakableGroupName: INSpeakableString?
    public let conversationIdentifier: String?
    public let sender: INPerson?

    public init(
        recipients: [INPerson]?, outgoingMessageType: INOutgoingMessageType, content: String?,
        speakableGroupName: INSpeakableString?, conversationIdentifier: String?, serviceName: String?,
        sender: INPerson?, attachments: [INSendMessageAttachment]?
    ) {
        self.recipients = recipients
        self.content = content
        self.speakableGroupName = speakableGroupName
        self.conversationIdentifier = conversationIdentifier
        self.sender = sender
    }
}

public enum INInteractionDirection: Int, Sendable {
    case unspecified, outgoing, incoming
}

open class INInteraction: NSObject {
    public let intent: INIntent
    open var direction = INInteractionDirection.unspecified

    public init(intent: INIntent, response: INIntentResponse?) { self.intent = intent }

    /// Apple's error if the app lacks the capability, which this one always lacks.
    open func donate() async throws { throw CocoaError(.featureUnsupported) }
}
