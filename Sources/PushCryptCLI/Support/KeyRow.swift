import PushCryptCore
import PushCryptKeysets

/// One key as `keys list --json` shows it.
///
/// ```
/// {"kid", "kind", "suite", "state", "psk", "createdAt", "activatesAt", "retiresAt", "expiresAt", "revokedAt",
///  "destroyedAt", "ageInSeconds", "sealsNow", "opensNow", "nextChange": {"state", "at"} | null}
/// ```
/// Times are RFC 3339. What isn't known or set is null, not absent.
struct KeyRow: Encodable {
    let life: KeyLife
    let kind: String

    private struct Change: Encodable {
        let state: String
        let at: String
    }

    private enum CodingKeys: CodingKey {
        case kid, kind, suite, state, psk, createdAt, activatesAt, retiresAt, expiresAt, revokedAt, destroyedAt
        case ageInSeconds, sealsNow, opensNow, nextChange
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode("\(life.kid)", forKey: .kid)
        try container.encode(kind, forKey: .kind)
        try container.encode(life.traits?.suite.rawValue ?? "", forKey: .suite)
        try container.encode("\(life.state)", forKey: .state)
        try container.encode(life.traits?.demandsPSK ?? false, forKey: .psk)
        let lifecycle = life.lifecycle
        try container.encode(lifecycle.createdAt?.description, forKey: .createdAt)
        try container.encode(lifecycle.activatesAt?.description, forKey: .activatesAt)
        try container.encode(lifecycle.retiresAt?.description, forKey: .retiresAt)
        try container.encode(lifecycle.expiresAt?.description, forKey: .expiresAt)
        try container.encode(lifecycle.revokedAt?.description, forKey: .revokedAt)
        try container.encode(lifecycle.destroyedAt?.description, forKey: .destroyedAt)
        try container.encode(life.ageInSeconds, forKey: .ageInSeconds)
        try container.encode(life.seals, forKey: .sealsNow)
        try container.encode(life.opens, forKey: .opensNow)
        let next = life.nextChange.map { Change(state: "\($0.state)", at: "\($0.at)") }
        try container.encode(next, forKey: .nextChange)
    }
}

extension KeysetView {
    var rows: [KeyRow] { listed.map { KeyRow(life: $0, kind: metadata.kind.rawValue) } }
}
