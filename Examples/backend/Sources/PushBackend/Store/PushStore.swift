/// What the service keeps. ``SQLiteStore`` keeps it in a file.
///
/// Another store must keep these promises:
/// - ``accept(_:at:)`` returns when message and deliveries are durable, all or none.
/// - A delivery is claimed by one worker at a time, until its lease ends or ``record(_:at:)`` has its outcome. A claim has the
///   registration of that moment, and never an installation that was asked to register again.
/// - ``record(_:at:)`` takes all outcomes or none.
/// - A device token, and a key, belongs to one installation: the last one that registered it.
/// - A delivery is for one installation of its user. After that one is removed, no other one gets it, and a late outcome or
///   receipt of it changes no other one.
/// - An outcome that a token has ended removes an installation only if it still has this token of this server.
public protocol PushStore: Sendable {
    /// Keeps an upload until its app answers a challenge. It contains the record, a secret. Only a user's latest ones are kept.
    func keep(_ upload: PendingUpload, at time: Int64) async throws

    /// Takes an upload of the user out of the store, and stores its registration, or renews the one with the same name, token or
    /// key: in one transaction, so that a challenge has one answer, and an answer that couldn't be stored can be repeated. Of too
    /// many installations of a user, the one that registered earliest is removed.
    ///
    /// - Parameter check: checks the answer. If it throws, the upload is removed and nothing is registered.
    /// - Throws: what `check` throws; `ChallengeError` if the upload doesn't wait; `StoreError` with `missing` if the user has no installation of the name, `conflict` if
    ///   another key has the same id, which is never replaced, or if the user's installation has a key whose suite ranks higher.
    func register(
        pending id: String, of user: String, at time: Int64, check: @escaping @Sendable (PendingUpload) throws -> Void
    ) async throws -> RegistrationState

    /// Returns the state of a user's installation; nil if there is none of this name.
    func registration(named name: String, of user: String) async throws -> RegistrationState?

    /// Removes an installation. What is queued for it fails with the reason `signedOut`.
    ///
    /// - Returns: false if there was none.
    func signOut(_ name: String, of user: String, at time: Int64) async throws -> Bool

    /// Replaces the segments that a user belongs to, also with the installations that register later.
    func setSegments(_ names: Set<String>, of user: String) async throws

    /// Adds a message and a delivery for each receiver.
    ///
    /// - Throws: `StoreError` with `conflict` if the idempotency key was used for another message that is still kept.
    func accept(_ message: NewMessage, at time: Int64) async throws -> AcceptedMessage

    /// Takes deliveries of one environment that are due, the ones with the highest priority first. Of the same priority, those of
    /// messages to one user come first.
    ///
    /// - Parameter lease: when they may be taken again, in milliseconds since 1970.
    func claim(_ limit: Int, for environment: APNsEnvironment, at time: Int64, until lease: Int64) async throws
        -> [ClaimedDelivery]

    /// Stores how attempts ended, and gives up their claims.
    func record(_ outcomes: [DeliveryOutcome], at time: Int64) async throws

    /// Stores what a user's device says. A push that the device couldn't open is sent again if a new seal can help. Only a user's
    /// latest receipts are kept.
    func add(_ receipt: DeviceReceipt, of user: String, at time: Int64) async throws

    /// Returns what became of a message; nil if there is none.
    func report(on messageID: String) async throws -> MessageReport?

    /// Fails what has expired, erases the payloads that nothing needs any more, removes what has ended long ago, and asks apps
    /// again that should register: a part of them, so that nothing else waits long.
    ///
    /// - Returns: whether more is left.
    @discardableResult
    func tidy(at time: Int64) async throws -> Bool

    /// Counts the deliveries that wait.
    func queueDepth() async throws -> Int

    /// Counts the deliveries that wait after 8 attempts or more, which take a minute or longer, by the reason of the last one.
    func stuckDeliveries() async throws -> [String: Int]

    /// A value that outlives a restart, such as the provider token; nil if there is none.
    func setting(_ name: String) async throws -> String?

    /// Keeps a value.
    func keep(_ value: String, as name: String) async throws
}

/// Why an upload doesn't wait for an answer. A store remembers for a day how an upload has ended.
public enum ChallengeError: Error, Hashable, Sendable {
    /// Its challenge was answered, rightly or not.
    case answered
    /// It has waited for longer than `PendingRegistration.validityInSeconds`.
    case expired
    /// The user has no such upload. It may be another user's.
    case unknown
}

/// Why the store didn't do something.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// The database is locked, or the disk is full: try again later.
        public static let unavailable = Code(description: "unavailable")
        /// The idempotency key was used for another message, or the id of a key for another key, or the suite of an upload ranks
        /// below that of the key that it would replace.
        public static let conflict = Code(description: "conflict")
        /// There is nothing of this name.
        public static let missing = Code(description: "missing")
        /// The database is damaged, or is not of this version.
        public static let damaged = Code(description: "damaged")
    }

    /// The kind of failure.
    public let code: Code
    /// The cause, for a log. It has no values of the database.
    public let reason: String
    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
