public import PushCryptCore
import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The app's part: keeps the backend's record of this device, the sender keys and the device's keys current.
///
/// ```
/// let pushes = PushRegistration(identity: identity, folder: folder, upload: upload)
/// try await pushes.register(deviceToken: token, account: user.id)     at every start, and when token or account changes
/// try await pushes.signOut()
/// ```
/// What the backend has belongs to a key, a device token, an account and a set of sender keys. A keychain item survives the
/// deletion of the app, a device token doesn't. So the record is uploaded again as soon as any of the four differs from the last
/// successful upload, and isn't uploaded otherwise.
///
/// Create one and keep it. Calls run one after the other, and none runs on the main actor.
public actor PushRegistration {
    /// What the backend stores for this installation of the app.
    public struct Upload: Sendable {
        /// The registration record, UTF-8 JSON. It is a secret of app and backend if it contains a psk: send it over TLS to an
        /// endpoint that authenticates the user, and keep no copy.
        public let record: Data
        /// The id of the record's key.
        public let kid: KeyID
        /// The device token in hexadecimal, as APNs expects it.
        public let deviceToken: String
        /// The user who is signed in, as passed to ``PushRegistration/register(deviceToken:account:isRequested:)``.
        public let account: String
        /// Which set of sender keys the device trusts, UTF-8 JSON; nil if it has none. The backend compares it with the set that
        /// it publishes.
        public let senderSetVersion: Data?

        /// For ``answer(_:host:)``; nil if the registration has none.
        let opener: Opener?
        /// The device's clock.
        let time: UnixTime
        /// The date of the backend's answer.
        let answer = Locked<UnixTime?>(nil)

        /// Tells the date of the backend's answer, by which day keys are erased. Call it in the registration's `upload` function.
        public func answered(at date: UnixTime) { answer.withLock { $0 = date } }
    }

    /// Where the app gets the signed set of sender keys, and who may sign it.
    public struct SenderSet: Sendable {
        let pins: SenderPins
        let fetch: @Sendable () async throws -> Data
        /// The trust in the keys of the set.
        package var trust: SenderTrust { .pinned(pins) }

        /// - Parameter fetch: downloads the set, at most 256 KiB. It is called at most once a day, and when the extension met a
        ///   sender key that the device doesn't trust.
        public init(pins: SenderPins, fetch: @escaping @Sendable () async throws -> Data) {
            self.pins = pins
            self.fetch = fetch
        }
    }

    /// What a call of ``register(deviceToken:account:isRequested:)`` did.
    public struct Outcome: Sendable {
        /// Whether the record was uploaded; false if the backend has it already.
        public let isUploaded: Bool
        /// Why the sender keys weren't updated: the error of the fetch, or `DeviceKeyError` for a set that was refused. The device
        /// keeps its last set. Nil if they were, or if no fetch was due.
        public let senderSetFailure: (any Error)?
        /// What the user or the app has to do, by the extension's counters: `updateApp`, `unlock`.
        public let advice: [RecoveryAdvice.Step]
    }

    private let identity: DeviceIdentity
    private let folder: String
    private let senders: SenderSet?
    private let store: SharedStore?
    private let opener: Opener?
    private let clock: @Sendable () -> UnixTime
    private let upload: @Sendable (Upload) async throws -> Void
    /// The end of the last call.
    private var lastCall: Task<Void, Never>?
    /// Whether a sign-out failed before it could be written to the file.
    private var mustErase = false

    /// Creates a registration.
    ///
    /// - Parameters:
    ///   - folder: a folder that only the app and its extension can read, for a file with a digest of the last upload.
    ///   - senders: nil if the app has its sender keys in its code, or accepts unsigned pushes.
    ///   - store: the extension's counters. With it, ``register(deviceToken:account:isRequested:)`` replaces a key that the
    ///     backend seems not to have and fetches sender keys that the device lacks.
    ///   - opener: opens the challenges of a backend that asks for a proof, see ``Upload/answer(_:host:)``. Make it with the
    ///     topic, the keys and the trust of the extension's configuration. nil if your backend asks for none.
    ///   - upload: sends the record to your backend as the signed-in user; throws unless the backend has stored it.
    public init(
        identity: DeviceIdentity, folder: String, senders: SenderSet? = nil, store: SharedStore? = nil,
        opener: Opener? = nil,
        clock: @escaping @Sendable () -> UnixTime = { .now },
        upload: @escaping @Sendable (Upload) async throws -> Void
    ) {
        self.identity = identity
        self.folder = folder
        self.senders = senders
        self.store = store
        self.opener = opener
        self.clock = clock
        self.upload = upload
    }

    /// Makes a key if the device has none or its key is old, updates the sender keys if that is due, and uploads the record if the
    /// backend doesn't have it for this key, token, account and set.
    ///
    /// Call it at every start, when the system has provided the device token, and whenever the token or the account changes. After
    /// a failed upload call it again: no further key is made, and pushes to the earlier key still open. For another account than
    /// that of the last call the keys are erased first, as by ``signOut()``.
    ///
    /// - Parameters:
    ///   - deviceToken: of `application(_:didRegisterForRemoteNotificationsWithDeviceToken:)`.
    ///   - account: the user who is signed in. Only a digest of it is stored.
    ///   - isRequested: whether the backend asks for the registration, such as by a silent push after a receipt with
    ///     `unknownKey`. Then the record is uploaded even if it was uploaded before.
    /// - Throws: the error of the upload; `DeviceKeyError` with `locked` before the first unlock (call it again when protected data
    ///   is available), `insecure`, `failed`, and the errors of the key storage.
    @discardableResult
    public func register(
        deviceToken: Data, account: String, isRequested: Bool = false
    ) async throws -> Outcome {
        try await inTurn { registration in
            try await registration.registerNow(deviceToken, account, isRequested: isRequested)
        }
    }

    /// Updates the sender keys if that is due. A process that the system has started in the background may end before it has the
    /// device token, which ``register(deviceToken:account:isRequested:)`` needs.
    ///
    /// - Returns: as ``Outcome/senderSetFailure``.
    /// - Throws: `DeviceKeyError` with `locked`, `insecure`, `failed`.
    public func updateSenderKeys() async throws -> (any Error)? {
        try await inTurn { registration in
            try? registration.eraseExpired()
            var file = try RegistrationFile(registration.folder)
            return await registration.updateSenders(&file, isAdvised: false, at: registration.clock())
        }
    }

    /// Erases the device's keys and the digest of the last upload when the user signs out. Pushes that are being delivered no
    /// longer open. Inform the backend, too. The trusted sender keys and their revocations stay.
    ///
    /// - Throws: `DeviceKeyError` with `locked`; some keys may be erased. ``completeSignOut()`` erases the rest, and so does the
    ///   next ``register(deviceToken:account:isRequested:)``.
    public func signOut() async throws {
        try await inTurn { registration in try registration.erase() }
    }

    /// Completes a sign-out that failed, usually because the keys were locked; does nothing otherwise. Call it when protected
    /// data becomes available while no user is signed in.
    ///
    /// - Returns: whether there was a sign-out to complete.
    /// - Throws: as ``signOut()``.
    @discardableResult
    public func completeSignOut() async throws -> Bool {
        try await inTurn { registration in
            guard try registration.mustErase || RegistrationFile(registration.folder).mustErase else { return false }
            try registration.erase()
            return true
        }
    }

    private func erase() throws(DeviceKeyError) {
        mustErase = true
        var file = try RegistrationFile(folder)
        if file.digest != nil || file.account != nil {
            file.mustErase = true
            try file.write(to: folder)
        }
        try identity.eraseAll()
        try RegistrationFile.remove(from: folder)
        mustErase = false
    }

    private func registerNow(
        _ deviceToken: Data, _ account: String, isRequested: Bool
    ) async throws -> Outcome {
        var file = try RegistrationFile(folder)
        let owner = try Self.digest(of: account)
        // The keys of another user must not open the next user's pushes, nor the other way round.
        if mustErase || file.mustErase || file.account.map({ $0 != owner }) ?? false {
            try erase()
            file = try RegistrationFile(folder)
        }
        if file.account != owner {
            file.account = owner
            try file.write(to: folder)
        }
        // Without a network, too.
        try? eraseExpired()
        let now = clock()
        let advice = try store.map { try RecoveryAdvice.steps(for: $0.statistics(), keys: openKeys(), at: now) } ?? []
        let failure = await updateSenders(&file, isAdvised: advice.contains(.updateSenderKeys), at: now)
        // A pair that awaits its confirmation was never uploaded, so it isn't replaced.
        let record = try advice.contains(.registerKey) ? identity.rotate() : identity.makeIfNeeded()
        let version = try? senders?.pins.version()
        let upload = Upload(
            record: record.requestBody, kid: record.kid, deviceToken: Self.hexadecimal(deviceToken), account: account,
            senderSetVersion: version.map { Data($0.json) }, opener: opener, time: now)
        let digest = try upload.digest()
        let isUploaded = isRequested || !record.isConfirmed || file.digest != digest
        if isUploaded {
            try await self.upload(upload)
            try identity.confirmRegistered(record, answeredAt: upload.answer.withLock(\.self))
            file.digest = digest
            try file.write(to: folder)
        }
        if !advice.isEmpty { try store?.adviceTaken(at: now) }
        // Again, by the date of the answer.
        try eraseExpired()
        try identity.prune()
        return Outcome(
            isUploaded: isUploaded, senderSetFailure: failure,
            advice: advice.filter { $0 == .updateApp || $0 == .unlock })
    }

    private func eraseExpired() throws(DeviceKeyError) {
        try identity.eraseExpired(highestIssuedAt: try? store?.highestIssuedAt(at: clock()))
    }

    /// Also day keys that were erased: the backend's next push is sealed to another one.
    private func openKeys() throws(DeviceKeyError) -> Set<KeyID> {
        let days = try identity.storage.dayKeys().flatMap(DayKeys.init)
        return Set(try identity.storage.keyIDs()).union(days?.keyIDs ?? [])
    }

    /// Fetches and accepts the set of sender keys if that is due.
    ///
    /// - Returns: why it failed; nil for success, and if it isn't due.
    private func updateSenders(_ file: inout RegistrationFile, isAdvised: Bool, at now: UnixTime) async -> (any Error)?
    {
        guard let senders else { return nil }
        do {
            try senders.pins.discardDamaged()
            let isRecent = file.fetchedAt.map { $0 <= now && now < $0 + Self.fetchIntervalInSeconds } ?? false
            guard try isAdvised || !isRecent || senders.pins.version() == nil else { return nil }
            let document = try await senders.fetch()
            file.fetchedAt = now
            try file.write(to: folder)
            try senders.pins.accept([UInt8](document), at: now)
            return nil
        } catch {
            return error
        }
    }

    private static let fetchIntervalInSeconds: Int64 = 86_400

    /// The file keeps no account in clear.
    private static func digest(of account: String) throws -> [UInt8] {
        try DefaultBackend.shared.sha256(Array("account:\(account)".utf8).bytes)
    }

    private static func hexadecimal(_ bytes: Data) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Runs a call after all earlier ones: an actor alone would interleave them while one waits for the network.
    private func inTurn<Value: Sendable>(
        _ body: @escaping @Sendable (isolated PushRegistration) async throws -> Value
    ) async throws -> Value {
        let previous = lastCall
        let call = Task {
            await previous?.value
            return try await body(self)
        }
        lastCall = Task { _ = try? await call.value }
        return try await withTaskCancellationHandler {
            try await call.value
        } onCancel: {
            call.cancel()
        }
    }
}

extension PushRegistration.Upload {
    /// A digest of what the upload says: the file keeps no token and no account in clear.
    fileprivate func digest() throws -> [UInt8] {
        let version = senderSetVersion.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let fields = [kid.description, deviceToken, account, version]
        let text = fields.map { "\($0.utf8.count):\($0)" }.joined()
        return try DefaultBackend.shared.sha256(Array(text.utf8).bytes)
    }
}

extension PushRegistration.Upload {
    /// Answers the challenge with which the backend replies to the upload: proves that this device has the record's private key
    /// (PROTOCOL section 13). Call it in the registration's `upload` function.
    ///
    /// - Parameters:
    ///   - challenge: the body of the backend's reply, UTF-8 JSON.
    ///   - host: the host of the address of your backend, in lower case and without port, as in the app's configuration.
    /// - Returns: the body of the request that completes the registration, UTF-8 JSON.
    /// - Throws: `FailureClass` for a challenge that doesn't open, by the classes of pushes; `KeyError` with `invalidHost`;
    ///   `DeviceKeyError` with `unsuitable` if the registration was made without an opener.
    public func answer(_ challenge: Data, host: String) throws -> Data {
        guard let opener else {
            throw DeviceKeyError(.unsuitable, "the registration was made without an opener, which challenges need")
        }
        let record = SecretBytes(copying: [UInt8](record).bytes)
        return Data(try opener.answer(challenge: [UInt8](challenge), record: record, host: host, at: time))
    }
}
