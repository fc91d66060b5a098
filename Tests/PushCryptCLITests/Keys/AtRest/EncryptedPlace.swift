import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A folder with passphrases, a helper that wraps data keys, and keysets with cheap scrypt parameters.
struct EncryptedPlace {
    let place: Workplace
    static let passphrase = "correct horse"
    static let otherPassphrase = "other horse"

    /// Wraps by substituting bytes and prepending `W`.
    static let kms = #"""
        case $1 in
        wrap) printf W; LC_ALL=C tr '\000-\377' '\200-\377\000-\177' ;;
        unwrap) dd bs=1 skip=1 2>/dev/null | LC_ALL=C tr '\000-\377' '\200-\377\000-\177' ;;
        esac
        """#

    /// - Parameter place: a copy of such a folder.
    init(_ place: Workplace) {
        self.place = place
    }

    init() throws {
        place = try Workplace()
        try place.write(Data("\(Self.passphrase)\n".utf8), to: "pass")
        try place.write(Data("\(Self.otherPassphrase)\n".utf8), to: "other")
        try place.write(Data(Self.kms.utf8), to: "kms")
    }

    /// The ways to give a command a secret.
    enum Source: String, CaseIterable, Sendable, CustomStringConvertible {
        case file, descriptor, environment, command, commandInEnvironment

        var description: String { rawValue }

        var isCommand: Bool { self == .command || self == .commandInEnvironment }

        /// A script of /bin/sh that runs pushcrypt with these arguments.
        func script(_ arguments: String) -> String {
            let run = "\"$PUSHCRYPT\" \(arguments)"
            return switch self {
            case .file: "\(run) --passphrase-file pass"
            case .descriptor: "\(run) --passphrase-file /dev/fd/7 7<pass"
            case .environment: "PUSHCRYPT_PASSPHRASE='\(EncryptedPlace.passphrase)' \(run)"
            case .command: "\(run) --wrap-command 'sh kms'"
            case .commandInEnvironment: "PUSHCRYPT_WRAP_COMMAND='sh kms' \(run)"
            }
        }
    }

    /// - Parameter arguments: in shell syntax.
    func run(_ arguments: String, _ source: Source = .file, stdin: Data = Data()) throws -> Output {
        try place.shell(source.script(arguments), stdin: stdin)
    }

    func runWithoutSecret(_ arguments: String, stdin: Data = Data()) throws -> Output {
        try place.shell("\"$PUSHCRYPT\" \(arguments)", stdin: stdin)
    }

    /// A keyset with one key, made at `Workplace.now`.
    @discardableResult
    func create(_ path: String, _ kind: KeyKind, psk: Bool = false, isCommand: Bool = false) throws -> String {
        let secret = isCommand ? command : Workplace.secret
        let secrets = try KeysetSecrets(ofLog: [(SecretName("passphrase")!, secret)], Self.cheap)
        return try place.make(path, kind, psk: psk, secrets: secrets, at: UnixTime(1_772_355_600))
    }

    static let cheap = try! ScryptParameters(n: 1_024, r: 8, p: 1)

    /// The last row of a keyset's file, with the keys.
    func lastRow(_ path: String) throws -> Data {
        try #require(try place.read("\(path).keyset").split(separator: UInt8(ascii: "\n")).last)
    }

    func isInClear(_ path: String) throws -> Bool { try Payload.member("keys", of: lastRow(path)) != nil }

    /// The values of every `d`, `k` and `psk`.
    func secrets(of path: String, isCommand: Bool = false) throws -> [String] {
        let rows = try KeysetRows(at: KeysetLocation(place.folder.file(path).path), .reading)
        let records = try rows.unlocked(isCommand ? command : Workplace.secret).records.values
        return try records.flatMap { record in
            var jwk = [UInt8]()
            try record.appendJWK(to: &jwk)
            let members = try JSONSerialization.jsonObject(with: Data(jwk)) as? [String: String] ?? [:]
            return ["d", "k", "psk"].compactMap { members[$0] }
        }
    }

    private var command: KeysetSecret { .command("sh '\(place.folder.path)/kms'") }

    /// The bytes of every file below `path`.
    func everything(in path: String) throws -> String {
        let root = place.folder.file(path)
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
        return names.map { name in
            let data = (try? Data(contentsOf: root.appendingPathComponent(name))) ?? Data()
            return String(decoding: data, as: UTF8.self)
        }.joined(separator: "\n")
    }
}
