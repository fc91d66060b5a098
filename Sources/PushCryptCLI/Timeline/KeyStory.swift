import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// Everything that is known of one key without a secret.
struct KeyStory {
    let life: KeyLife
    let view: KeysetView
    /// The whole RFC 7638 thumbprint in base64url; nil where nothing public says it.
    let thumbprint: String?
    /// What the audit log says of the key; nil where there is no log.
    let history: [AuditEntry]?
    /// What is wrong with the log; nil for nothing.
    let flaw: String?

    /// - Throws: `KeystoreError` where a file of the keyset can't be read.
    init(_ life: KeyLife, in view: KeysetView) throws {
        self.life = life
        self.view = view
        thumbprint = view.thumbprint(of: life.kid)
        guard let folder = view.folder else {
            (history, flaw) = (nil, nil)
            return
        }
        let opened = try Folder(folder.path)
        guard opened.has(KeysetFolder.auditName) || view.metadata.audit != .none else {
            (history, flaw) = (nil, nil)
            return
        }
        let log = try folder.auditLog(in: opened).history(view.metadata.audit)
        history = log.entries.filter { $0.kid == life.kid.description }
        flaw = log.flaw
    }
}

extension KeysetView {
    /// From what is published: the private file may be encrypted. Nothing of a shared key is.
    fileprivate func thumbprint(of kid: KeyID) -> String? {
        guard metadata.kind != .shared else { return nil }
        let file = folder.map { $0.path + "/" + KeysetFolder.publicName } ?? path
        guard let bytes = try? FileSystem.readFile(file), let keyset = try? Keyset(json: bytes) else { return nil }
        return (try? keyset.entry(kid)?.record.thumbprint()).map { Base64URL.encode($0) }
    }
}

/// `keys show --json`: what `keys list --json` says of the key, and
///
/// ```
/// {"keyset", "thumbprint": BASE64URL | null, "next": WORDS,
///  "history": [{"n", "at", "who", "what", "detail", "why"}] | null, "historyProblem": WORDS | null}
/// ```
extension KeyStory: Encodable {
    private enum CodingKeys: CodingKey {
        case keyset, thumbprint, next, history, historyProblem
    }

    private struct Entry: Encodable {
        let entry: AuditEntry

        enum CodingKeys: CodingKey {
            case n, at, who, what, detail, why
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(entry.number, forKey: .n)
            try container.encode("\(entry.at)", forKey: .at)
            try container.encode(entry.who, forKey: .who)
            try container.encode(entry.what, forKey: .what)
            try container.encode(entry.detail, forKey: .detail)
            try container.encode(entry.why, forKey: .why)
        }
    }

    func encode(to encoder: any Encoder) throws {
        try KeyRow(life: life, kind: view.metadata.kind.rawValue).encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(view.path, forKey: .keyset)
        try container.encode(thumbprint, forKey: .thumbprint)
        try container.encode(whatNext, forKey: .next)
        try container.encode(history?.map { Entry(entry: $0) }, forKey: .history)
        try container.encode(flaw, forKey: .historyProblem)
    }
}
