import ArgumentParser
import PushCryptCore
import PushCryptKeyFiles

struct KeysList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the keys of a keyset with their states.")

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @Flag(help: "An array of objects, for machines.")
    var json = false

    @OptionGroup var timeOptions: TimeOptions

    func run() throws {
        let rows = try KeySource.metadata(of: path).rows(at: timeOptions.time)
        if json {
            try StandardStreams.writeJSON(rows)
        } else {
            try StandardStreams.write(Table(rows).text)
        }
    }
}

/// One key as `keys list` shows it.
struct KeyRow: Encodable {
    let kid: String
    let kind: String
    let suite: String
    let state: String
    let psk: Bool
    let createdAt: String?
    let activatesAt: String?
    let retiresAt: String?
    let expiresAt: String?
    let revokedAt: String?
    let destroyedAt: String?

    enum CodingKeys: CodingKey {
        case kid, kind, suite, state, psk, createdAt, activatesAt, retiresAt, expiresAt, revokedAt, destroyedAt
    }

    /// A time that isn't set is null, not absent.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kid, forKey: .kid)
        try container.encode(kind, forKey: .kind)
        try container.encode(suite, forKey: .suite)
        try container.encode(state, forKey: .state)
        try container.encode(psk, forKey: .psk)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(activatesAt, forKey: .activatesAt)
        try container.encode(retiresAt, forKey: .retiresAt)
        try container.encode(expiresAt, forKey: .expiresAt)
        try container.encode(revokedAt, forKey: .revokedAt)
        try container.encode(destroyedAt, forKey: .destroyedAt)
    }
}

extension KeysetMetadata {
    func rows(at time: UnixTime) -> [KeyRow] {
        timeline.keys.map { key in
            let (lifecycle, traits) = (key.lifecycle, traits[key.kid])
            return KeyRow(
                kid: "\(key.kid)", kind: kind.rawValue, suite: traits?.suite.rawValue ?? "",
                state: timeline.state(of: key.kid, at: time)?.description ?? "", psk: traits?.demandsPSK ?? false,
                createdAt: lifecycle.createdAt?.description, activatesAt: lifecycle.activatesAt?.description,
                retiresAt: lifecycle.retiresAt?.description, expiresAt: lifecycle.expiresAt?.description,
                revokedAt: lifecycle.revokedAt?.description, destroyedAt: lifecycle.destroyedAt?.description)
        }
    }
}

private struct Table {
    let text: String

    init(_ rows: [KeyRow]) {
        let header = ["KID", "STATE", "SUITE", "PSK", "CREATED", "ACTIVATES", "RETIRES", "EXPIRES"]
        let lines =
            [header]
            + rows.map { row in
                [
                    row.kid, row.state, row.suite, row.psk ? "yes" : "-", row.createdAt ?? "-",
                    row.activatesAt ?? "-", row.retiresAt ?? "-", row.expiresAt ?? "-",
                ]
            }
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        text =
            lines.map { line in
                zip(line, widths).map { cell, width in
                    cell + String(repeating: " ", count: width - cell.count)
                }.joined(separator: "  ").trimmingSpaces
            }.joined(separator: "\n") + "\n"
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(reversed().drop { $0 == " " }.reversed())
    }
}
