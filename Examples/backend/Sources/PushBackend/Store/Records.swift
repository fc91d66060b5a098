import Foundation
import PushCryptSender

// MARK: Registrations

/// What an installation of the app has uploaded.
struct RegistrationUpload: Codable, Sendable {
    var user: String
    /// The device token, hexadecimal digits in lower case.
    var token: String
    var environment: APNsEnvironment
    /// The registration record: a public JWK with its `psk`. It is a secret between app and backend.
    var record: Data
    /// The id of the record's key.
    var kid: String
    /// Which set of sender keys the app has accepted, as JSON.
    var senderSet: String?
}

/// An upload whose app hasn't answered the challenge yet.
struct PendingUpload: Codable, Sendable {
    /// What the answer to the challenge is compared with.
    var pending: PendingRegistration
    var upload: RegistrationUpload
}

/// What the service answers to a registration.
struct RegistrationState: Hashable, Sendable, Encodable {
    /// The service's name of the installation.
    let name: String
    /// The id of the key that pushes are sealed to.
    let kid: String
    /// Whether the service asks for a new registration, and seals nothing to this key.
    let asksForRegistration: Bool

    private enum CodingKeys: String, CodingKey {
        case name, kid
        case asksForRegistration = "register"
    }
}

// MARK: Messages

/// A notification that another part of the backend hands in.
struct NewMessage: Sendable {
    /// The receiver: all installations of this user at this moment.
    var user: String
    /// The payload to seal, UTF-8 JSON. It is kept until it isn't needed any more, and never logged.
    var payload: Data
    /// `apns-priority`
    var priority = 10
    /// `apns-collapse-id`, which Apple can read; nil for the delivery's `apns-id`.
    var collapseID: String?
    /// In milliseconds since 1970.
    var expiresAt: Int64
    /// A key that the caller chooses, so that a repeated request adds the message once.
    var idempotencyKey: String?
}

/// A message that is on the disk.
struct AcceptedMessage: Hashable, Sendable, Encodable {
    /// A random UUID. The ids of the message on the devices derive from it.
    let id: String
    /// How many installations it goes to.
    let deliveries: Int
}

/// What became of a message.
struct MessageReport: Hashable, Sendable, Encodable {
    let id: String
    /// How many installations it went to.
    let deliveries: Int
    /// How many wait to be sent, for the first time or again.
    var queued = 0
    /// How many APNs has accepted.
    var sent = 0
    /// How many of ``sent`` a device has confirmed.
    var opened = 0
    /// How many failed, by reason: one of APNs, of the sealer, of the device, or of this service.
    var failed: [String: Int] = [:]
}

/// What a delivery carries.
enum DeliveryKind: Int, Sendable {
    /// The sealed notification.
    case notification = 0
    /// A silent push that asks the app to register again.
    case registrationRequest = 1
}

/// A delivery that a worker has taken, with the registration as it is now. Times are milliseconds since 1970.
struct ClaimedDelivery: Sendable {
    /// Its number in the queue.
    let id: Int64
    let kind: DeliveryKind
    /// nil for a registration request.
    let messageID: String?
    let payload: Data
    /// `apns-id`, a UUID, the same for every attempt.
    let apnsID: String
    let priority: Int
    let collapseID: String?
    let expiresAt: Int64
    /// How many attempts began, this one included.
    let attempts: Int
    let token: String
    let environment: APNsEnvironment
    /// The registration record to seal to, and the id of its key.
    let record: Data
    let kid: String
    let registeredAt: Int64
}

/// How an attempt ended.
struct DeliveryOutcome: Sendable {
    /// What happens next. Times are milliseconds since 1970.
    enum Result: Hashable, Sendable {
        /// APNs has accepted it. `receiptName` is its name in a device's receipt, and `skid` the key that signed it.
        case sent(receiptName: String?, skid: String? = nil)
        case retry(at: Int64, reason: String)
        /// The answer of APNs got lost, so the device may get it twice.
        case unanswered(retryAt: Int64, reason: String)
        case failed(reason: String)
        /// The token isn't valid: since a time, or nil for a token that APNs doesn't know. If the installation has another token by
        /// now, the push is due again. Otherwise it is reported as failed, and the installation is removed, unless it has registered
        /// later. One whose token APNs doesn't know is removed only if APNs has accepted no push to this token: otherwise the
        /// service has the wrong server or topic.
        case tokenEnded(at: Int64?, reason: String)
    }

    /// What was attempted.
    let delivery: ClaimedDelivery
    let result: Result
}

/// A device's receipt of one push.
struct DeviceReceipt: Hashable, Sendable {
    /// The same each time that it is sent.
    let id: String
    /// The name of the message; nil if the device couldn't open it.
    let name: String?
    /// The failure's class; nil if the push was restored.
    let failure: String?
    /// The key that the push named.
    let kid: String?
    /// The signing key that the push named; nil for an app whose library doesn't report it.
    var skid: String?
    /// When the device has seen the push, by its clock, in milliseconds since 1970.
    let time: Int64
}
