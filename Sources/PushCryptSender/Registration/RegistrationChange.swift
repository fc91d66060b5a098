public import PushCryptCore

/// A registration with the account and the device token that it was stored with.
public struct StoredRegistration: Codable, Sendable {
    /// The record.
    public let registration: Registration
    /// The account that made the registration.
    public let account: String
    /// The device token, as the app uploaded it: `PushRegistration.Upload.deviceToken`.
    public let deviceToken: String

    /// The environment of APNs to which the device token belongs; nil if the backend keeps none.
    public let environment: APNsEnvironment?

    /// Makes a value from the columns of a row, or from an upload.
    public init(
        _ registration: Registration, account: String, deviceToken: String, environment: APNsEnvironment? = nil
    ) {
        self.registration = registration
        self.account = account
        self.deviceToken = deviceToken
        self.environment = environment
    }

    /// The id of the record's key.
    public var kid: KeyID { registration.kid }
}

/// An environment of APNs. A device token belongs to one of them.
public enum APNsEnvironment: String, CaseIterable, Codable, Hashable, Sendable {
    /// Apps that Xcode installs: `api.sandbox.push.apple.com`.
    case sandbox
    /// The App Store, TestFlight and ad hoc distribution: `api.push.apple.com`.
    case production
}

/// What an upload changes in the backend's table of registrations, whose key is the kid (PROTOCOL section 3).
///
/// ```
/// stored with the same kid                       then
/// none                                           insert
/// another key (or another psk)                   refuse: conflict
/// the same key of another account, not proven    refuse: otherAccount
/// the same key                                   replace, or keep if nothing differs
/// ... with a device set of a higher seq          refuse: rolledBack; of the same seq and other bytes: conflict
/// stored with the same device token              remove: one installation has one registration
/// ... for the same account with a higher suite   refuse: suiteTooLow, unless a lower suite is allowed
/// ```
/// Read the rows, compute the change and write it in one transaction.
public struct RegistrationChange: Hashable, Sendable {
    /// Whether the upload is written, by an insertion or in place of the row with its kid; false if this row is the same.
    public let isWritten: Bool
    /// The kids of the rows to remove: earlier keys of the same installation, and keys of the user who had the device before.
    public let removedKeyIDs: [KeyID]

    /// Decides what to do with an upload.
    ///
    /// - Parameters:
    ///   - upload: the upload of the signed-in account.
    ///   - stored: the rows with the kid of the upload, and those with its device token. Other rows may be among them.
    ///   - isProven: whether the device has answered a challenge for the record: ``PendingRegistration``. Only then can a key
    ///     change its account.
    ///   - allowsLowerSuite: whether the upload may replace a key of the same account and device whose suite ranks higher. Pass
    ///     true only for a device that is known to have lost the suite, for example after the app went back to an earlier version.
    /// - Throws: `SenderError` with `conflict` if another key has the same kid, `otherAccount` if the key belongs to another
    ///   account, `suiteTooLow`, `rolledBack`.
    public init(
        storing upload: StoredRegistration, over stored: [StoredRegistration], isProven: Bool,
        allowsLowerSuite: Bool = false
    ) throws(SenderError) {
        let present = stored.first { $0.kid == upload.kid }
        if let present {
            guard present.registration.hasSameKey(as: upload.registration) else {
                throw SenderError(.conflict, "another key with the id \(upload.kid) is stored; it is never replaced")
            }
            guard isProven || present.account == upload.account else {
                throw SenderError(.otherAccount, "key \(upload.kid) belongs to another account")
            }
            try upload.registration.checkDeviceSet(replacing: present.registration)
        }
        let replaced = stored.filter { $0.deviceToken == upload.deviceToken && $0.kid != upload.kid }
        if !allowsLowerSuite {
            // The row of another account doesn't count: its user could keep the next user of the device from registering.
            for row in replaced where row.account == upload.account {
                try upload.registration.checkSuite(replacing: row.registration)
            }
        }
        isWritten = present.map { !$0.isSame(as: upload) } ?? true
        removedKeyIDs = replaced.map(\.kid)
    }

    /// Decides what to do when a user signs out.
    ///
    /// - Parameters:
    ///   - kid: the id of the key that the app had registered.
    ///   - account: the account that signs out. It can't remove another account's key.
    ///   - stored: the row with the kid, or no row. Without a row nothing is removed, and that is no error.
    public init(signingOut kid: KeyID, account: String, from stored: [StoredRegistration]) {
        isWritten = false
        removedKeyIDs = stored.filter { $0.kid == kid && $0.account == account }.map(\.kid)
    }
}

extension StoredRegistration {
    fileprivate func isSame(as other: StoredRegistration) -> Bool {
        account == other.account && deviceToken == other.deviceToken && environment == other.environment
            && registration.digest == other.registration.digest
    }
}
