package import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets
package import PushCryptPrimitives

/// A keyset and the operator who changes it. Each value is the keyset after one change, which a test writes where it needs it.
package struct KeysetFiles: Sendable {
    package static let start = UnixTime(1_800_000_000)

    package private(set) var log: KeysetLog
    package private(set) var material: KeysetMaterial

    /// A keyset with one key, which seals from ``start`` on.
    ///
    /// - Parameter secret: encrypts the keys under the name `one`, passphrases with cheap parameters of scrypt.
    package init(
        _ kind: KeyKind = .sender, _ secret: KeysetSecret? = nil, type: KeyPairType = .p256, psk: Bool = false
    ) throws {
        let record = try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared)
        let secrets = try secret.map {
            try KeysetSecrets(ofLog: [(SecretName("one")!, $0)], ScryptParameters(n: 16, r: 1, p: 1))
        }
        material = KeysetMaterial(
            records: [record.kid: record], secrets: secrets, historyKey: try secrets.map { _ in try .random() })
        var changes = KeysetChanges()
        changes.keys = [try Self.change(record, at: Self.start, activatesAt: Self.start)]
        changes.secrets = secrets?.names
        log = try KeysetLog(creating: .random(), kind, at: Self.start, who: "test", changes)
    }

    package var id: KeysetID { log.state.id }
    package var kids: [KeyID] { log.state.keys.map(\.kid) }
    package var opened: OpenedKeyset { OpenedKeyset(log, material) }
    package var keyset: Keyset { get throws { try Keyset(opened) } }
    package var file: [UInt8] { get throws { try material.file(log) } }

    package func write(to path: String, mode: Int = 0o600) throws {
        try FileSystem.replace(path, with: file, mode: mode)
    }

    private static func change(
        _ record: KeyRecord, at time: UnixTime, activatesAt: UnixTime?
    ) throws -> KeysetChanges.Key {
        var key = KeysetChanges.Key(record.kid)
        (key.jwk, key.demandsPSK) = (try PublicJWK(record), record.hasPSK)
        key.moments = [.createdAt: time]
        if let activatesAt { key.moments[.activatesAt] = activatesAt }
        return key
    }

    /// The keyset after one more line, a second later.
    package func appending(
        _ action: KeysetLine.Action = .rotated, after seconds: Int64 = 1, number: Int64? = nil,
        _ body: (inout KeysetChanges) throws -> Void = { _ in }
    ) throws -> KeysetFiles {
        var (new, changes) = (self, KeysetChanges())
        try body(&changes)
        new.log = try log.appending(
            action, at: log.state.at + seconds, who: "test", number: number, changes)
        for key in new.log.state.keys where !key.hasMaterial { new.material.records[key.kid] = nil }
        return new
    }

    /// The keyset with one more key, which seals at once, or after that time.
    package func rotated(sealsAfter seconds: Int64 = 0) throws -> KeysetFiles {
        let record = try KeyRecord.generate(log.state.kind, backend: DefaultBackend.shared)
        var new = self
        new.material.records[record.kid] = record
        let time = log.state.at + 1
        return try new.appending { $0.keys = [try Self.change(record, at: time, activatesAt: time + seconds)] }
    }

    package func setting(
        _ moment: KeysetChanges.Moment, of kid: KeyID, to time: UnixTime, _ action: KeysetLine.Action = .revoked
    ) throws -> KeysetFiles {
        try appending(action) { changes in
            var key = KeysetChanges.Key(kid)
            key.moments = [moment: time]
            changes.keys = [key]
        }
    }

    /// The keyset under another secret.
    package func encrypted(_ secret: KeysetSecret?) throws -> KeysetFiles {
        var new = self
        new.material.secrets = try secret.map {
            try KeysetSecrets(ofLog: [(SecretName("one")!, $0)], ScryptParameters(n: 16, r: 1, p: 1))
        }
        new.material.historyKey = try material.historyKey ?? .random()
        if secret == nil { new.material.historyKey = nil }
        return try new.appending(.secrets) { $0.secrets = new.material.secrets?.names ?? [] }
    }
}
