public import Foundation

/// Whom a message is for.
public enum Audience: Hashable, Sendable {
    /// All installations of a user.
    case user(String)
    /// All installations of a segment.
    case segment(String)
}

/// A notification that another part of the backend hands in.
public struct NewMessage: Sendable {
    /// The receivers, as registered at this moment.
    public var audience: Audience
    /// The payload to seal, UTF-8 JSON. It is kept until it isn't needed any more, and never logged.
    public var payload: Data
    /// `apns-priority`
    public var priority: Int
    /// `apns-collapse-id`, which Apple can read; nil for the delivery's `apns-id`.
    public var collapseID: String?
    /// When the message expires, in milliseconds since 1970.
    public var expiresAt: Int64
    /// A key that the caller chooses, so that a repeated request adds the message once.
    public var idempotencyKey: String?

    /// Creates a message; the parameters are the properties of the same names.
    public init(
        to audience: Audience, payload: Data, priority: Int = 10, collapseID: String? = nil, expiresAt: Int64,
        idempotencyKey: String? = nil
    ) {
        self.audience = audience
        self.payload = payload
        self.priority = priority
        self.collapseID = collapseID
        self.expiresAt = expiresAt
        self.idempotencyKey = idempotencyKey
    }
}

/// A message that is on the disk.
public struct AcceptedMessage: Hashable, Sendable {
    /// A random UUID. The ids of the message on the devices derive from it.
    public let id: String
    /// How many installations it goes to.
    public let deliveryCount: Int
}

/// What became of a message.
public struct MessageReport: Hashable, Sendable {
    /// How many installations it went to.
    public var deliveries = 0
    /// How many wait to be sent, for the first time or again.
    public var queued = 0
    /// How many APNs has accepted.
    public var sent = 0
    /// How many of ``sent`` a device has confirmed.
    public var opened = 0
    /// How many failed, by reason: one of APNs, of the sealer, of the device, or of this server.
    public var failed: [String: Int] = [:]
}

/// What a delivery carries.
public enum DeliveryKind: Int, Sendable {
    /// The sealed notification.
    case notification = 0
    /// A silent push that asks the app to register again.
    case registrationRequest = 1
}

/// A delivery that a worker has taken, with the registration as it is now.
public struct ClaimedDelivery: Sendable {
    /// Its number in the queue.
    public let id: Int64
    /// What it carries.
    public let kind: DeliveryKind
    /// The message's id; nil for a registration request.
    public let messageID: String?
    /// The payload to seal.
    public let payload: Data
    /// `apns-id`, a UUID, the same for every attempt.
    public let apnsID: String
    /// `apns-priority`
    public let priority: Int
    /// `apns-collapse-id` of the caller.
    public let collapseID: String?
    /// In milliseconds since 1970.
    public let expiresAt: Int64
    /// How many attempts began, this one included.
    public let attempts: Int
    /// The device token.
    public let token: String
    /// The server that the token belongs to.
    public let environment: APNsEnvironment
    /// The registration record to seal to.
    public let record: Data
    /// The id of the record's key.
    public let kid: String
    /// When the installation registered last, in milliseconds since 1970.
    public let registeredAt: Int64
}

/// How an attempt ended.
public struct DeliveryOutcome: Sendable {
    /// What happens next.
    public enum Result: Hashable, Sendable {
        /// APNs has accepted it. `receiptName` is its name in a device's receipt, and `skid` the key that signed it.
        case sent(receiptName: String?, skid: String? = nil)
        /// It is due again at a time in milliseconds since 1970.
        case retry(at: Int64, reason: String)
        /// The answer of APNs got lost, so the device may get it twice. It is due again at a time in milliseconds since 1970.
        case unanswered(retryAt: Int64, reason: String)
        /// It is reported as failed.
        case failed(reason: String)
        /// The token isn't valid: since a time in milliseconds since 1970, or nil for a token that APNs doesn't know. It is due
        /// again if the installation has another token by now. Otherwise it is reported as failed, and the installation is
        /// removed, unless it has registered later. One whose token APNs doesn't know is removed only if APNs has accepted no
        /// push to this token: otherwise the service has the wrong server or topic.
        case tokenEnded(at: Int64?, reason: String)
    }

    /// The delivery's number.
    public let id: Int64
    /// The device token that it was sent to.
    public let token: String
    /// The server that it was sent to.
    public let environment: APNsEnvironment
    /// The key that it was sealed to.
    public let kid: String
    /// How it ended.
    public let result: Result

    /// Creates the outcome of an attempt.
    public init(of delivery: ClaimedDelivery, _ result: Result) {
        id = delivery.id
        token = delivery.token
        environment = delivery.environment
        kid = delivery.kid
        self.result = result
    }
}

/// A device's receipt of one push.
public struct DeviceReceipt: Hashable, Sendable {
    /// The id of the receipt, the same each time that it is sent.
    public let id: String
    /// The name of the message; nil if the device couldn't open it.
    public let name: String?
    /// The failure's class; nil if the push was restored.
    public let failure: String?
    /// The key that the push named.
    public let kid: String?
    /// The signing key that the push named; nil for an app whose library doesn't report it.
    public let skid: String?
    /// When the device has seen the push, by its clock, in milliseconds since 1970.
    public let time: Int64

    /// Creates a receipt; the parameters are the properties of the same names.
    public init(id: String, name: String?, failure: String?, kid: String?, skid: String? = nil, time: Int64) {
        self.id = id
        self.name = name
        self.failure = failure
        self.kid = kid
        self.skid = skid
        self.time = time
    }
}
