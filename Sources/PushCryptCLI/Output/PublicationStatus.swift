import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// A signed sender set at a time: when it was issued and how long it is valid.
///
/// ```
/// {"set": BASE64URL, "topics": [TOPIC, ...], "epoch": n, "seq": n, "issuedAt": TIME, "validUntil": TIME,
///  "state": "valid" | "expiring" | "expired", ["signedBy": KID]}
/// ```
struct PublicationStatus {
    private let publication: SenderSetPublication
    private let signedBy: KeyID?
    private let now: UnixTime
    let condition: SenderSetPublication.Condition

    init(_ publication: SenderSetPublication, signedBy: KeyID?, at time: UnixTime) {
        self.publication = publication
        self.signedBy = signedBy
        now = time
        condition = publication.condition(at: time)
    }

    init(_ set: SignedSenderSet, at time: UnixTime) { self.init(set.publication, signedBy: set.signedBy, at: time) }

    /// The last signed set of an epoch; nil if none was published.
    ///
    /// - Throws: `KeyError` for a set that no app accepts.
    init?(_ state: KeysetState, epoch: Int64, at time: UnixTime) throws {
        guard let last = state.published[epoch], let validUntil = last.validUntil, let publication = state.publication
        else { return nil }
        let set = try SenderSetPublication(
            set: state.id.bytes, topics: publication.topics, epoch: epoch, sequence: last.number,
            issuedAt: last.issuedAt, validUntil: validUntil)
        self.init(set, signedBy: nil, at: time)
    }

    var json: JSONObject {
        let json: JSONObject = [
            "set": Base64URL.encode(publication.set), "topics": publication.topics.map(\.description),
            "epoch": publication.epoch, "seq": publication.sequence, "issuedAt": "\(publication.issuedAt)",
            "validUntil": "\(publication.validUntil)", "state": condition.rawValue,
        ]
        return json.adding(ifKnown: ["signedBy": signedBy?.description])
    }

    /// As in `issued at TIME (3d ago), valid until TIME (in 57d), epoch 1, seq 4, for com.example.app`.
    var text: String {
        let (issuedAt, validUntil) = (publication.issuedAt, publication.validUntil)
        let warning =
            switch condition {
            case .valid: ""
            case .expiring: "expires soon: "
            case .expired: "expired, verifies nothing: "
            }
        let signer = signedBy.map { ", signed by \($0)" } ?? ""
        return warning + "issued at \(issuedAt) (\(TimeDistance.text(issuedAt, from: now))), valid until \(validUntil) "
            + "(\(TimeDistance.text(validUntil, from: now))), epoch \(publication.epoch), seq \(publication.sequence), "
            + "for \(publication.topics.map(\.description).joined(separator: ", "))\(signer)"
    }

    var style: TerminalText.Style {
        switch condition {
        case .valid: .plain
        case .expiring: .warning
        case .expired: .bad
        }
    }
}
