import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A keyset with a history, and a command that changes it.
///
/// ```
/// day   0   the first key
/// day  83   rotate adds the second, which seals from day 90
/// day 180   the first no longer opens
/// day 181   the command
/// ```
struct KilledChange: Sendable, CustomTestStringConvertible {
    enum Protection: String, Sendable {
        case plain, command, passphrase
    }

    let name: String
    let protection: Protection
    /// The number of lines that it adds to the log.
    var lineCount = 1
    /// The steps at which it is killed; all of them in the long form.
    var points = ChangePoint.allCases

    var testDescription: String { "\(name), \(protection)" }

    static let all =
        [
            KilledChange(name: "rotate", protection: .plain, lineCount: 2),
            KilledChange(name: "rotate", protection: .command, lineCount: 2, points: few),
            KilledChange(name: "keys passwd", protection: .command, points: few),
            KilledChange(name: "keys passwd", protection: .passphrase, points: fewest),
            KilledChange(name: "keys add", protection: .command, points: fewest),
            KilledChange(name: "keys revoke", protection: .command, points: fewest),
        ]
        + [
            "keys add", "keys revoke", "keys promote", "keys retire", "keys destroy", "keys prune", "keys policy",
            "keys passwd",
        ].map { KilledChange(name: $0, protection: .plain, points: fewest) }
        + (PushCryptCore.Suite.xWing.isAvailable
            ? [KilledChange(name: "keys add --suite xwing", protection: .plain)] : [])

    /// All changes take the same steps, and `rotate` of a plain keyset is killed at each of them.
    private static let few: [ChangePoint] =
        LongTests.areEnabled ? ChangePoint.allCases : [.keysetSynced, .keysetRenamed, .publicSynced]
    private static let fewest: [ChangePoint] = LongTests.areEnabled ? ChangePoint.allCases : [.keysetRenamed]

    static let path = "Keys/ios"
    static let moment = UnixTime(1_767_225_600 + 181 * 86_400)
    static let time = later(181)

    static func later(_ days: Int) -> String { String(1_767_225_600 + days * 86_400) }

    /// The options for the secret.
    var secret: [String] {
        switch protection {
        case .plain: []
        case .command: ["--wrap-command", "sh ./wrap"]
        case .passphrase: ["--passphrase-file", "passphrase"]
        }
    }

    /// The options for the secret after the change.
    var newSecret: [String] {
        name != "keys passwd"
            ? secret : protection == .passphrase ? ["--passphrase-file", "new"] : ["--wrap-command", "sh ./rewrap"]
    }

    /// Makes the keyset.
    func prepare() throws -> PlaceSnapshot {
        let hasPending = ["keys promote", "keys retire", "keys revoke"].contains(name)
        switch (protection, hasPending) {
        case (.plain, false): return try Self.plain.get()
        case (.plain, true): return try Self.plainWithPending.get()
        default: return try make(hasPending: hasPending)
        }
    }

    /// Made once, because most changes begin with them.
    private static let plain = Result {
        try KilledChange(name: "rotate", protection: .plain).make(hasPending: false)
    }
    private static let plainWithPending = Result {
        try KilledChange(name: "keys revoke", protection: .plain).make(hasPending: true)
    }

    private func make(hasPending: Bool) throws -> PlaceSnapshot {
        let place = try Workplace()
        for (name, shift) in [("wrap", 1), ("rewrap", 2)] { try place.writeWrapCommand(name, shift) }
        for name in ["passphrase", "new"] { try place.write(Data("\(name) horse".utf8), to: name) }
        let (protection, key) = try made(in: place, isNew: false)
        _ = try place.make(Self.path, .recipient, protection, key, at: UnixTime(1_767_225_600))
        try run(["rotate", Self.path] + secret, place, at: Self.later(83))
        if hasPending { try run(["keys", "add", Self.path] + secret, place, at: Self.time) }
        return try PlaceSnapshot(place)
    }

    /// The command line for a keyset made by `prepare`.
    func arguments(_ place: Workplace) throws -> [String] {
        let keys = try place.keys(Self.path, at: Self.time)
        func kid(_ state: String) throws -> String { try #require(keys.first { $0.state == state }).kid }
        let more: [String] =
            switch name {
            case "keys promote": [try kid("pending"), "--force", "--yes"]
            case "keys retire", "keys revoke": [try kid("pending"), "--yes"]
            case "keys destroy": [try kid("expired"), "--yes"]
            case "keys prune": ["--yes"]
            case "keys policy": ["--keep", "5"]
            case "keys passwd":
                protection == .passphrase ? ["--new-passphrase-file", "new"] : ["--new-wrap-command", "sh ./rewrap"]
            default: []
            }
        return name.split(separator: " ").map(String.init) + [Self.path] + more + secret + ["--at", Self.time]
    }

    /// The protection and the secret for the library; with `isNew` those after the change.
    func made(in place: Workplace, isNew: Bool) throws -> (PushCryptKeysets.Protection, KeysetSecret?) {
        let isChanged = isNew && name == "keys passwd"
        let path = place.folder.path
        switch isChanged && protection == .plain ? .command : protection {
        case .plain: return (.plaintext, nil)
        case .command: return (.command, .command("sh '\(path)/\(isChanged ? "rewrap" : "wrap")'"))
        case .passphrase:
            return (
                .passphrase(EncryptedPlace.cheap), try .passphraseFile("\(path)/\(isChanged ? "new" : "passphrase")")
            )
        }
    }

    private func run(_ arguments: [String], _ place: Workplace, at time: String) throws {
        let output = try place.run(arguments + ["--at", time])
        try #require(output.isSuccess, "\(output)")
    }
}
