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

    private init(_ publication: SenderSetPublication, signedBy: KeyID?, at time: UnixTime) {
        self.publication = publication
        self.signedBy = signedBy
        now = time
        condition = publication.condition(at: time)
    }

    init(_ set: SignedSenderSet, at time: UnixTime) { self.init(set.publication, signedBy: set.signedBy, at: time) }

    /// The set that `keys publish --signed-by` makes of a keyset; nil for a keyset without one.
    init?(_ metadata: KeysetMetadata, at time: UnixTime) {
        guard let publication = metadata.signedSet else { return nil }
        self.init(publication, signedBy: nil, at: time)
    }

    /// What is left to do after a change of a sender keyset at `path`, which issues its set again.
    static func publishing(_ path: String, _ secrets: SecretOptions) -> String {
        TerminalText.harmless("the new set now: `\(PublishedSet.command(path, secrets.repeatedArguments))`".utf8)
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
