public import Foundation
public import UserNotifications

// The part of Apple's documented API that PushCryptApple uses, for systems without the framework. No product depends on it.

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
public enum INPersonHandleType: Int, Sendable {
    case unknown, emailAddress, phoneNumber
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INPersonHandle: NSObject {
    public let value: String?
    public let type: INPersonHandleType

    public init(value: String?, type: INPersonHandleType) {
        self.value = value
        self.type = type
    }
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INImage: NSObject {
    /// Apple's class doesn't expose the data.
    public let stubData: Data

    public init(imageData: Data) { stubData = imageData }
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
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

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INSpeakableString: NSObject {
    public let spokenPhrase: String

    public init(spokenPhrase: String) { self.spokenPhrase = spokenPhrase }
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INSendMessageAttachment: NSObject {}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
public enum INOutgoingMessageType: Int, Sendable {
    case unknown, outgoingMessageText, outgoingMessageAudio
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INIntent: NSObject {
    @available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
    open var donationMetadata: INIntentDonationMetadata?
    /// The images by the name of their parameter, which Apple's class doesn't expose in this way.
    public final var stubImages: [String: INImage] = [:]
}

@available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
@available(tvOS, unavailable)
open class INIntentDonationMetadata: NSObject {}

@available(iOS 15, macOS 12, watchOS 8, visionOS 1, *)
@available(tvOS, unavailable)
open class INSendMessageIntentDonationMetadata: INIntentDonationMetadata {
    open var mentionsCurrentUser = false
    open var isReplyToCurrentUser = false
    open var notifyRecipientAnyway = false
    open var recipientCount = 0
}

/// Apple's method takes the key path of any parameter.
@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
extension INSendMessageIntent {
    public func setImage(_ image: INImage?, forParameterNamed path: KeyPath<INSendMessageIntent, INSpeakableString?>) {
        stubImages[path == \.speakableGroupName ? "speakableGroupName" : "?"] = image
    }
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INIntentResponse: NSObject {}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INSendMessageIntent: INIntent, UNNotificationContentProviding {
    open var stubRefusal: UNError.Code? { StubIntents.shared.refusal(ofConversation: conversationIdentifier) }
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

/// The intents that the system refuses. Each test uses conversations of its own.
@available(tvOS, unavailable)
public final class StubIntents: @unchecked Sendable {
    // Unchecked because of the variable: it is read and written under the lock.
    public static let shared = StubIntents()
    private let lock = NSLock()
    private var refusals: [String: UNError.Code] = [:]

    public func refuse(conversation: String, _ code: UNError.Code?) { lock.withLock { refusals[conversation] = code } }

    func refusal(ofConversation conversation: String?) -> UNError.Code? {
        lock.withLock { conversation.flatMap { refusals[$0] } }
    }
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
public enum INInteractionDirection: Int, Sendable {
    case unspecified, outgoing, incoming
}

@available(iOS 14, macOS 12, watchOS 7, visionOS 1, *)
@available(tvOS, unavailable)
open class INInteraction: NSObject {
    public let intent: INIntent
    open var direction = INInteractionDirection.unspecified

    public init(intent: INIntent, response: INIntentResponse?) { self.intent = intent }

    /// Apple's error if the app lacks the capability, which this one always lacks.
    open func donate() async throws { throw CocoaError(.featureUnsupported) }
}

/// UserNotifications declares it. Here it needs the module of the intent.
@available(iOS 18, macOS 15, watchOS 11, visionOS 2, *)
@available(tvOS, unavailable)
open class UNNotificationAttributedMessageContext: NSObject, UNNotificationContentProviding {
    open var stubRefusal: UNError.Code? { intent.stubRefusal }
    private let intent: INSendMessageIntent

    public init(sendMessageIntent: INSendMessageIntent, attributedContent: NSAttributedString) {
        intent = sendMessageIntent
    }
}
