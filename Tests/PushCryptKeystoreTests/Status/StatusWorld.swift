import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptLives

/// A host with real files: `Keys/senders`, its publisher `Publisher/app`, histories and a served folder.
final class StatusWorld {
    let folder: TemporaryFolder
    let storage: FileStorage
    var clock = UnixTime(1_800_000_000)
    var name = "host"
    var faults: [String: FolderFault] = [:]
    let senders: String
    let app: String
    static let secret = KeysetSecret.passphrase(SecretBytes(copying: Array("a".utf8).bytes))

    init(_ secrets: KeysetSecrets? = Life.secrets, policy: RotationPolicy? = nil) throws {
        folder = try TemporaryFolder()
        for name in ["Keys", "Publisher", "history", "www"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(name)", withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
        }
        storage = FileStorage(
            histories: HistoryFolder("\(folder.path)/history"), servedFolder: "\(folder.path)/www"
        ) { $1.isEncrypted ? Self.secret : nil }
        (senders, app) = ("\(folder.path)/Keys/senders.keyset", "\(folder.path)/Publisher/app.keyset")
        let publisher = try host().create(app, .publisher, secrets: secrets)
        var changes = KeysetChanges()
        changes.publication = .init(topics: [LifeApp.topic], validForInSeconds: 60 * day)
        changes.epochs = [1: publisher.state.id]
        changes.policy = policy
        _ = try host().create(senders, .sender, changes, secrets: secrets)
        try run()
    }

    func host(confirmsClock: Bool = false) -> KeystoreHost<FileStorage> {
        KeystoreHost(storage, name: name, who: "op", clock: clock, confirmsClock: confirmsClock)
    }

    func state(_ path: String? = nil) throws -> KeysetState { try opened(path ?? senders).state }
    func opened(_ path: String) throws -> OpenedKeyset { try #require(try storage.keyset(path)).opened() }
    func reference(_ path: String) throws -> KeysetReference {
        KeysetReference(KeysetLocation(path), try state(path).id)
    }

    var places: KeystoreStatus.Places {
        KeystoreStatus.Places(
            keystores: ["\(folder.path)/Keys", "\(folder.path)/Publisher"],
            history: HistoryFolder("\(folder.path)/history"), served: "\(folder.path)/www",
            expected: ["senders", "app"])
    }

    func status(
        _ places: KeystoreStatus.Places? = nil, isLong: Bool = false, secret: KeysetSecret? = secret
    ) -> KeystoreStatus {
        let probe = { [faults] in faults[$0] ?? FolderFault($0, needsLock: $1) }
        return KeystoreStatus(
            host(), places ?? self.places, isLong: isLong, secret: isLong ? { _ in secret } : nil, probe: probe)
    }

    var codes: [StatusFinding.Code] { status().findings.map(\.code) }

    /// The only finding.
    func finding(
        _ code: StatusFinding.Code, and notices: [StatusFinding.Code] = [],
        _ location: SourceLocation = #_sourceLocation
    ) throws -> StatusFinding {
        let findings = status().findings
        #expect(findings.map(\.code) == [code] + notices, "\(findings)", sourceLocation: location)
        return try #require(findings.first, sourceLocation: location)
    }

    /// What cron does.
    func run(publishes: Bool = true, confirmsClock: Bool = false) throws {
        try host(confirmsClock: confirmsClock).rotate(senders)
        if publishes { try publish(confirmsClock: confirmsClock) }
        try host(confirmsClock: confirmsClock).recordRun(of: state().id, status: 0)
    }

    func publish(replacing: Bool = false, serves: Bool = true, confirmsClock: Bool = false) throws {
        let host = host(confirmsClock: confirmsClock)
        guard serves else {
            _ = try host.unsigned(senders, replacing: replacing)
            return
        }
        for result in try host.publish(senders, publishers: [host.load(app)], replacing: replacing) {
            switch result.outcome {
            case .refused(let refusal): throw refusal
            case .failed(let error): throw error
            default: break
            }
        }
    }

    func pass(days: Int64, publishes: Bool = true) throws {
        for _ in 0..<days {
            clock = clock + day
            try run(publishes: publishes)
        }
    }

    /// Carries out a remedy that is an operation.
    func carryOut(_ remedy: StatusFinding.Remedy, with files: [OpenedKeyset] = []) throws {
        switch remedy {
        case .restore(let keyset), .takeOver(let keyset):
            let path = try #require(keyset.location?.path)
            let present = files.isEmpty ? try storage.keyset(path).map { [try $0.opened()] } ?? [] : files
            let publishers = [try storage.keyset(app)?.opened()].compactMap(\.self)
            try host(confirmsClock: true).restore(path, present, publishers: path == app ? [] : publishers) { _ in true
            }
        case .rotate, .rotateAll: try run()
        case .publish: try publish()
        case .setClock: try host().correctClock(senders)
        case .enableTimer: try run()
        case .removeFile(let path): FileSystem.removeFile(path)
        case .makePrivate(let path): unsafe chmod(path, 0o600)
        default: Issue.record("\(remedy) isn't an operation")
        }
    }

    /// Carries out a remedy, which ends with a run without findings.
    func heal(
        _ finding: StatusFinding, with files: [OpenedKeyset] = [], confirmsClock: Bool = false,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        try carryOut(finding.remedy, with: files)
        try run(confirmsClock: confirmsClock)
        #expect(codes == [], sourceLocation: location)
    }

    func remember(_ history: KeysetHistory) throws { try storage.lock(nil).setHistory(history, from: nil) }
    func file(_ path: String) throws -> [UInt8] { try FileSystem.readFile(path) }
    func write(_ bytes: [UInt8], _ path: String) throws { try FileSystem.replace(path, with: bytes) }
    func historyPath(_ path: String) throws -> String { "\(folder.path)/history/\(try state(path).id)" }
    func servedPath() throws -> String { "\(folder.path)/www/\(ServedDocument.name(try state().id, 1))" }
}
