import Foundation
import PushCryptSender

/// The registrations of a backend. The dictionaries stand for two tables of your database.
actor Registrations {
    /// The request isn't for this account, or the challenge is gone.
    struct Refused: Error {}

    /// The host of the address to which the app sends its record.
    static let host = "push.example.com"

    private let sealer: Sealer
    private var rows: [KeyID: StoredRegistration] = [:]
    private var pending: [String: (registration: PendingRegistration, account: String, deviceToken: String)] = [:]

    /// - Parameter sealer: with the signing key that the app pins.
    init(_ sealer: Sealer) { self.sealer = sealer }

    /// The app uploads its record. The response is a challenge.
    func upload(_ record: Data, account: String, deviceToken: String) throws -> Data {
        let registration = try Registration(json: record, requiring: [.psk, .asymmetric])
        let challenge = try sealer.challenge(registration, host: Self.host)
        pending[challenge.pending.id] = (challenge.pending, account, deviceToken)
        return challenge.json
    }

    /// The app answers. Call it with the account of the same session.
    func confirm(_ answer: Data, account: String) throws {
        // Taken out before it is checked: a challenge has one answer.
        let waiting = pending.removeValue(forKey: try PendingRegistration.id(ofAnswer: answer))
        guard let waiting, waiting.account == account else { throw Refused() }
        let upload = StoredRegistration(
            try waiting.registration.confirm(answer: answer), account: account, deviceToken: waiting.deviceToken)
        let change = try RegistrationChange(storing: upload, over: Array(rows.values), isProven: true)
        for kid in change.removedKeyIDs { rows[kid] = nil }
        rows[upload.kid] = upload
    }

    /// The user signs out, while still authenticated.
    func signOut(_ kid: KeyID, account: String) {
        for kid in RegistrationChange(signingOut: kid, account: account, from: Array(rows.values)).removedKeyIDs {
            rows[kid] = nil
        }
    }

    /// The installations to send to.
    func recipients(of account: String) -> [(deviceToken: String, recipient: Recipient)] {
        rows.values.filter { $0.account == account }.map { ($0.deviceToken, Recipient($0.registration)) }
    }
}
