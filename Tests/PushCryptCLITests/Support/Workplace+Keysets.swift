import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// Keysets that tests begin with. The library makes them, because a debug build of the tool takes longer. `path` has no suffix:
/// `Keys/app` is the file `Keys/app.keyset`.
extension Workplace {
    /// Creates a keyset like `keys create --insecure-plaintext` at `time`; returns the kid.
    ///
    /// - Parameter options: those of `keys create` for the key and the policy.
    /// - Returns: nil if there are other options.
    func make(_ path: String, _ kind: String, _ options: [String], at time: String) throws -> String? {
        var (rest, type, hasPSK, policy) = (options[...], KeyPairType.p256, false, [String: String]())
        while let option = rest.popFirst() {
            switch option {
            case "--psk": hasPSK = true
            case "--suite":
                guard let suite = rest.popFirst().flatMap(KeyPairType.init(argument:)) else { return nil }
                type = suite
            case "--rotate-every", "--publish-lead", "--overlap", "--keep": policy[option] = rest.popFirst()
            default: return nil
            }
        }
        return try make(
            path, #require(KeyKind(rawValue: kind)), type: type, psk: hasPSK,
            policy: policy.isEmpty ? nil : Self.policy(policy), at: #require(UnixTime(rfc3339: time)))
    }

    /// - Parameter secrets: those of an encrypted keyset.
    func make(
        _ path: String, _ kind: KeyKind, type: KeyPairType = .p256, psk: Bool = false, policy: RotationPolicy? = nil,
        secrets: KeysetSecrets? = nil, at time: UnixTime
    ) throws -> String {
        var changes = KeysetChanges()
        changes.policy = policy
        let keyset = try host(at: time).create(
            makeKeystore(of: path), kind, changes, type: type, psk: psk, secrets: secrets)
        return try #require(keyset.state.keys.first?.kid.description)
    }

    /// Changes keysets without a history and without a start of the tool.
    func host(_ secret: KeysetSecret? = nil, at time: UnixTime) -> KeystoreHost<FileStorage> {
        let storage = FileStorage(histories: nil, servedFolder: nil) { _, rows in rows.isEncrypted ? secret : nil }
        return KeystoreHost(storage, name: CLI.writer, who: "tests", clock: time)
    }

    /// Begins a rotation of a keyset with keys in clear, like `rotate --now`.
    func rotate(_ path: String, at time: String = now) throws {
        try host(at: #require(UnixTime(argument: time))).rotate(folder.file(path).path, beginsNow: true)
    }

    func revoke(_ path: String, _ kid: String, at time: String = now) throws {
        try host(at: #require(UnixTime(argument: time))).revoke(folder.file(path).path, #require(KeyID(kid)))
    }

    /// Sets a moment of a key as no command does: the invariants of a change don't apply.
    func set(_ moment: KeysetChanges.Moment, of kid: String, in path: String, to time: String) throws {
        let location = KeysetLocation(folder.file(path).path)
        let rows = try KeysetRows(at: location, .reading)
        var key = try KeysetChanges.Key(#require(KeyID(kid)))
        let time: UnixTime = try #require(UnixTime(argument: time))
        key.moments[moment] = .some(time)
        var changes = KeysetChanges()
        changes.keys = [key]
        let log = try rows.log.appending(.restored, at: rows.log.state.at, who: "tests", changes)
        try write(Data(rows.unlocked(nil).file(log)), to: path + KeysetLocation.suffix)
    }

    /// The private keys of a keyset with keys in clear, as a JWK set.
    func privateKeys(_ path: String) throws -> Data {
        let last = try #require(try read(path + KeysetLocation.suffix).split(separator: UInt8(ascii: "\n")).last)
        let row = try #require(try JSONSerialization.jsonObject(with: Data(last)) as? [String: Any])
        return try JSONSerialization.data(withJSONObject: ["keys": #require(row["keys"])], options: .sortedKeys)
    }

    /// Creates a keyset at `now`, encrypted with the passphrase in the file `passphrase`; returns its kid.
    ///
    /// - Parameter scrypt: the cost of opening the keys; nearly none by default.
    @discardableResult
    func createEncrypted(
        _ path: String, _ kind: KeyKind, psk: Bool = false, scrypt: ScryptParameters = EncryptedPlace.cheap
    ) throws -> String {
        try write(Data(Self.passphrase.utf8), to: "passphrase")
        let secrets = try KeysetSecrets(ofLog: [(SecretName("passphrase")!, Self.secret)], scrypt)
        return try make(path, kind, psk: psk, secrets: secrets, at: #require(UnixTime(rfc3339: Self.now)))
    }

    private static let passphrase = "correct horse"
    /// The passphrase of ``createEncrypted(_:_:psk:scrypt:)``.
    static var secret: KeysetSecret { .passphrase(SecretBytes(copying: Array(passphrase.utf8).bytes)) }

    /// Writes a keyset of new shared keys with these lifecycle members; returns the kids. A key with `destroyedAt` has no
    /// material.
    ///
    /// - Parameter updatedAt: the time of the log's one line.
    @discardableResult
    func writeKeyset(
        _ path: String, _ lifecycles: [String], updatedAt: String = "2026-02-01T09:00:00Z", policy: String? = nil
    ) throws -> [String] {
        var (changes, records) = (KeysetChanges(), [KeyID: KeyRecord]())
        for lifecycle in lifecycles {
            let record = try KeyRecord.generate(.shared, type: .p256, psk: false, backend: DefaultBackend.shared)
            var key = KeysetChanges.Key(record.kid)
            let members = try JSONSerialization.jsonObject(with: Data("{\(lifecycle)}".utf8)) as? [String: String]
            for (name, time) in try #require(members) {
                let time: UnixTime = try #require(UnixTime(rfc3339: time))
                key.moments[try #require(.init(rawValue: name))] = .some(time)
            }
            if key.moments[.destroyedAt] == nil { records[record.kid] = record }
            changes.keys.append(key)
        }
        changes.policy = try policy.map { try RotationPolicy(JSONText(Array($0.utf8)).root) }
        let time = try #require(UnixTime(rfc3339: updatedAt))
        let log = try KeysetLog(creating: .random(), .shared, at: time, who: "tests", changes)
        _ = try makeKeystore(of: path)
        try write(
            Data(KeysetMaterial(records: records, secrets: nil, historyKey: nil).file(log)),
            to: path + KeysetLocation.suffix)
        return changes.keys.map(\.kid.description)
    }

    /// - Returns: the absolute path of the keyset.
    private func makeKeystore(of path: String) throws -> String {
        let keystore = FileSystem.parent(of: path)
        if !keystore.isEmpty, !has(keystore) { try makeFolder(keystore) }
        return folder.file(path).path
    }

    private static func policy(_ options: [String: String]) throws -> RotationPolicy {
        func seconds(_ option: String, _ standard: Int64) throws -> Int64 {
            try options[option].map { try #require(DurationText.seconds($0)) } ?? standard
        }
        let standard = RotationPolicy.standard
        return try RotationPolicy(
            rotateEveryInSeconds: seconds("--rotate-every", standard.rotateEveryInSeconds),
            publishLeadInSeconds: seconds("--publish-lead", standard.publishLeadInSeconds),
            overlapInSeconds: seconds("--overlap", standard.overlapInSeconds),
            keep: options["--keep"].flatMap(Int.init) ?? standard.keep)
    }

    /// Replaces each kid in the text by its index: `key number0`, as long as a kid.
    static func named(_ text: String, _ kids: [String]) -> String {
        kids.enumerated().reduce(text) { text, kid in
            text.replacing(kid.element, with: "key number ".prefix(11 - String(kid.offset).count) + String(kid.offset))
        }
    }

    /// Writes a public JWK set of new recipient keys with these lifecycle members; returns the kids.
    func writeSet(_ lifecycles: [String], suites: [String] = [], to file: String) throws -> [String] {
        var (keys, members, kids) = ([String](), [String](), [String]())
        for (index, lifecycle) in lifecycles.enumerated() {
            let type = try suites.isEmpty ? .p256 : #require(KeyPairType(argument: suites[index]))
            let record = try KeyRecord.generate(.recipient, type: type, psk: false, backend: DefaultBackend.shared)
            keys.append(try Self.json(record.publicRecord(keepingPSK: true)))
            members.append(#""\#(record.kid)":{\#(lifecycle)}"#)
            kids.append("\(record.kid)")
        }
        let (list, lifecycles) = (keys.joined(separator: ","), members.joined(separator: ","))
        let set = #"{"keys":[\#(list)],"pushcrypt":{"seq":1,"keys":{\#(lifecycles)}}}"#
        try write(Data(set.utf8), to: file)
        return kids
    }

    /// The registration record of a keyset: its primary's public JWK, with its psk if it has one.
    func publicJWK(_ path: String) throws -> String {
        let keyset = try Keyset(file: folder.file(path).path + KeysetLocation.suffix)
        let primary = try keyset.sealingEntry(at: #require(UnixTime(rfc3339: Self.now)))
        return try Self.json(primary.record.publicRecord(keepingPSK: true))
    }

    private static func json(_ record: KeyRecord) throws -> String {
        var jwk = [UInt8]()
        try record.appendJWK(to: &jwk)
        return String(decoding: jwk, as: UTF8.self)
    }

    /// The values of `d`, `k` and `psk` in a keyset with keys in clear, or in another key file.
    func secrets(in path: String) throws -> [String] {
        let text = try has(path + KeysetLocation.suffix) ? privateKeys(path) : read(path)
        let keys = try Payload.member("keys", of: text) as? [[String: String]] ?? []
        return keys.flatMap { key in ["d", "k", "psk"].compactMap { key[$0] } }
    }

    /// Writes a fast command for --wrap-command, which adds a number to every byte or subtracts it.
    func writeWrapCommand(_ name: String, _ shift: Int = 1) throws {
        let script = """
            #!/bin/sh
            from='\\000-\\377'; to='\\00\(shift)-\\377\\000-\\00\(shift - 1)'
            if [ "$1" = wrap ]; then LC_ALL=C tr "$from" "$to"; else LC_ALL=C tr "$to" "$from"; fi

            """
        try write(Data(script.utf8), to: name, mode: 0o700)
    }
}
