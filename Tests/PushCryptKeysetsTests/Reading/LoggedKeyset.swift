import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// A keyset and the operator who changes it.
struct LoggedKeyset {
    static let start = UnixTime(1_800_000_000)

    private(set) var log: KeysetLog
    private(set) var material: KeysetMaterial

    init(_ kind: KeyKind = .sender, _ secret: KeysetSecret? = nil, psk: Bool = false) throws {
        let record = try KeyRecord.generate(kind, psk: psk, backend: DefaultBackend.shared)
        let secrets = try secret.map {
            try KeysetSecrets(ofLog: [(SecretName("one")!, $0)], ScryptParameters(n: 16, r: 1, p: 1))
        }
        material = KeysetMaterial(
            records: [record.kid: record], secrets: secrets, historyKey: try secrets.map { _ in try .random() })
        var changes = KeysetChanges()
        changes.keys = [try Self.change(record, at: Self.start)]
        changes.secrets = secrets?.names
        log = try KeysetLog(creating: .random(), kind, at: Self.start, who: "test", changes)
    }

    var id: KeysetID { log.state.id }
    var kids: [KeyID] { log.state.keys.map(\.kid) }
    var opened: OpenedKeyset { OpenedKeyset(log, material) }
    var file: [UInt8] { get throws { try material.file(log) } }

    func write(to path: String, mode: Int = 0o600) throws { try FileSystem.replace(path, with: file, mode: mode) }

    private static func change(_ record: KeyRecord, at time: UnixTime) throws -> KeysetChanges.Key {
        var key = KeysetChanges.Key(record.kid)
        (key.jwk, key.demandsPSK) = (try PublicJWK(record), record.hasPSK)
        key.moments = [.createdAt: time, .activatesAt: time]
        return key
    }

    /// The keyset after one more line, a second later.
    func appending(
        _ action: KeysetLine.Action = .rotated, after seconds: Int64 = 1, number: Int64? = nil,
        _ body: (inout KeysetChanges) throws -> Void = { _ in }
    ) throws -> LoggedKeyset {
        var (new, changes) = (self, KeysetChanges())
        try body(&changes)
        new.log = try log.appending(
            action, at: log.state.at + seconds, who: "test", number: number, changes)
        for key in new.log.state.keys where !key.hasMaterial { new.material.records[key.kid] = nil }
        return new
    }

    /// The keyset with one more key, which seals at once.
    func rotated() throws -> LoggedKeyset {
        let record = try KeyRecord.generate(log.state.kind, backend: DefaultBackend.shared)
        var new = self
        new.material.records[record.kid] = record
        return try new.appending { $0.keys = [try Self.change(record, at: log.state.at + 1)] }
    }

    func setting(
        _ moment: KeysetChanges.Moment, of kid: KeyID, to time: UnixTime, _ action: KeysetLine.Action = .revoked
    ) throws -> LoggedKeyset {
        try appending(action) { changes in
            var key = KeysetChanges.Key(kid)
            key.moments = [moment: time]
            changes.keys = [key]
        }
    }
}
