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
/// day 180   the first opens no more
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
    /// The steps at which it is killed.
    var points = ChangePoint.allCases

    var testDescription: String { "\(name), \(protection)" }

    static let all =
        [
            KilledChange(name: "rotate", protection: .plain, lineCount: 2),
            KilledChange(name: "rotate", protection: .command, lineCount: 2),
            KilledChange(name: "keys passwd", protection: .command),
            // Only the last step before the change and the first after it: each use of the new passphrase costs a full scrypt.
            KilledChange(name: "keys passwd", protection: .passphrase, points: [.keysetSynced, .keysetRenamed]),
            KilledChange(name: "keys add", protection: .command, points: few),
            KilledChange(name: "keys revoke", protection: .command, points: few),
        ]
        + [
            "keys add", "keys revoke", "keys promote", "keys retire", "keys destroy", "keys prune", "keys policy",
            "keys passwd",
        ].map { KilledChange(name: $0, protection: .plain, points: few) }

    /// All changes have the same steps. These are enough for a change that differs from another only in its effect.
    private static let few: [ChangePoint] = [.keysetSynced, .keysetRenamed, .publicSynced, .published]

    static let path = "Keys/ios"
    static let moment = UnixTime(1_767_225_600 + 181 * 86_400)
    static let time = later(181)

    static func later(_ days: Int) -> String { String(1_767_225_600 + days * 86_400) }

    /// The options that name the secret.
    var secret: [String] {
        switch protection {
        case .plain: []
        case .command: ["--wrap-command", "sh ./wrap"]
        case .passphrase: ["--passphrase-file", "passphrase"]
        }
    }

    /// The options that name the secret after the change.
    var newSecret: [String] {
        name != "keys passwd"
            ? secret : protection == .passphrase ? ["--passphrase-file", "new"] : ["--wrap-command", "sh ./rewrap"]
    }

    /// Creates the keyset.
    func prepare() throws -> PlaceSnapshot {
        let place = try Workplace()
        for (name, shift) in [("wrap", 1), ("rewrap", 2)] { try place.writeWrapCommand(name, shift) }
        for name in ["passphrase", "new"] { try place.write(Data("\(name) horse".utf8), to: name) }
        let (protection, key) = try made(in: place, isNew: false)
        _ = try place.make(Self.path, .recipient, protection, key, at: UnixTime(1_767_225_600))
        try run(["rotate", Self.path] + secret, place, at: Self.later(83))
        if ["keys promote", "keys retire", "keys revoke"].contains(name) {
            try run(["keys", "add", Self.path] + secret, place, at: Self.time)
        }
        return try PlaceSnapshot(place)
    }

    /// The command line of the change, for a keyset from `prepare`.
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

    /// The protection and the secret for the library; with `isNew`, those after the change.
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

/// The steps of a change at which the tests kill it, in their order, and what each leaves.
enum ChangePoint: String, CaseIterable {
    case locked
    case keysetCreated = "keyset-created"
    case keysetWritten = "keyset-written"
    case keysetSynced = "keyset-synced"
    case keysetRenamed = "keyset-renamed"
    case publicCreated = "public-created"
    case publicWritten = "public-written"
    case publicSynced = "public-synced"
    case publicRenamed = "public-renamed"
    case published
    case logged

    /// Whether the change is made at this step: renaming the keyset makes it.
    var isMade: Bool {
        switch self {
        case .locked, .keysetCreated, .keysetWritten, .keysetSynced: false
        default: true
        }
    }

    /// The notices of the next command, in their order.
    func notices(_ path: String, missingLines count: Int) -> [String] {
        let lines = "\(count) missing line\(count == 1 ? "" : "s")"
        let log = "\(path): wrote \(lines) of the audit log, which an interrupted change had not finished"
        let set = "\(path): wrote public.jwks.json anew from the keyset"
        switch self {
        case .locked, .logged: return []
        case .keysetCreated, .keysetWritten, .keysetSynced: return [discarded(path, "keyset.json")]
        case .keysetRenamed: return [log, set]
        case .publicCreated, .publicWritten, .publicSynced: return [discarded(path, "public.jwks.json"), log, set]
        case .publicRenamed, .published: return [log]
        }
    }

    private func discarded(_ path: String, _ name: String) -> String {
        "\(path): discarded \(name).new-RANDOM, which an interrupted change had not finished"
    }
}

/// A keyset's file, read with Foundation instead of the code under test.
struct StoredFile {
    let sequence: Int
    let kids: Set<String>
    let logCount: Int

    /// - Throws: if the file is incomplete.
    init(_ path: String, in place: Workplace) throws {
        let bytes = try place.read("\(path)/keyset.json")
        let member = try #require(try Payload.member("pushcrypt", of: bytes) as? [String: Any])
        sequence = try #require(member["seq"] as? Int)
        kids = Set(try #require(member["keys"] as? [String: Any]).keys)
        logCount = try #require((member["audit"] as? [String: Any])?["count"] as? Int)
    }
}
