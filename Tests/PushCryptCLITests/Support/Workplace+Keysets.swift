import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import pushcrypt

/// Keysets that tests begin with. The library creates them, because a debug build of the tool takes longer.
extension Workplace {
    /// Creates a keyset like `keys create --insecure-plaintext` at `time`; returns the kid.
    ///
    /// - Parameter options: those of `keys create` for the key.
    /// - Returns: nil if there are other options.
    func make(_ path: String, _ kind: String, _ options: [String], at time: String) throws -> String? {
        var (rest, type, hasPSK) = (options[...], KeyPairType.p256, false)
        while let option = rest.popFirst() {
            if option == "--psk" {
                hasPSK = true
            } else if option == "--suite", let suite = rest.popFirst().flatMap(KeyPairType.init(argument:)) {
                type = suite
            } else {
                return nil
            }
        }
        let kind = try #require(KeyKind(rawValue: kind))
        return try make(
            path, kind, type: type, psk: hasPSK, .plaintext, nil, at: #require(UnixTime(rfc3339: time)))
    }

    func make(
        _ path: String, _ kind: KeyKind, type: KeyPairType = .p256, psk: Bool = false, _ protection: Protection,
        _ secret: KeysetSecret?, at time: UnixTime
    ) throws -> String {
        let record = try KeyRecord.generate(kind, type: type, psk: psk, backend: DefaultBackend.shared)
        try KeysetStore(folder.file(path).path).create(
            record, .standard, protection, secret, at: time,
            by: Actor(name: NSUserName(), reason: nil, writer: CLI.writer))
        return "\(record.kid)"
    }

    /// Creates a keyset at `now`, encrypted with the passphrase in the file `passphrase`; returns its kid.
    ///
    /// - Parameter scrypt: the cost of opening the keys; nearly none by default.
    @discardableResult
    func createEncrypted(
        _ path: String, _ kind: KeyKind, scrypt: ScryptParameters = EncryptedPlace.cheap
    ) throws -> String {
        try write(Data("correct horse".utf8), to: "passphrase")
        let passphrase = Array("correct horse".utf8)
        return try make(
            path, kind, .passphrase(scrypt), .passphrase(SecretBytes(copying: passphrase.bytes)),
            at: #require(UnixTime(rfc3339: Self.now)))
    }

    /// Writes the file of a keyset of shared keys with these lifecycle members; returns the kids. A key with `destroyedAt`
    /// is a tombstone.
    @discardableResult
    func writeKeyset(
        _ path: String, _ lifecycles: [String], updatedAt: String = "2026-02-01T09:00:00Z", policy: String? = nil
    ) throws -> [String] {
        var (keys, members, kids) = ([String](), [String](), [String]())
        for (index, lifecycle) in lifecycles.enumerated() {
            let isTombstone = lifecycle.contains("destroyedAt")
            let key = isTombstone ? (kid: Self.tombstone(index), jwk: "") : try Self.stock.get()[keys.count]
            if !isTombstone { keys.append(key.jwk) }
            members.append(#""\#(key.kid)": {\#(lifecycle.isEmpty ? "" : lifecycle + ", ")"suite": "shared"}"#)
            kids.append(key.kid)
        }
        let policy = policy.map { #""policy": \#($0), "# } ?? ""
        let text = """
            {"keys": [\(keys.joined(separator: ",\n"))],
             "pushcrypt": {"seq": 7, "updatedAt": "\(updatedAt)", "kind": "shared", \(policy)"keys": {
               \(members.joined(separator: ",\n"))}}}
            """
        try makeFolder(path)
        try write(Data(text.utf8), to: path + "/keyset.json")
        return kids
    }

    /// Replaces each kid in the text by its index: `key number0`, as long as a kid.
    static func named(_ text: String, _ kids: [String]) -> String {
        kids.enumerated().reduce(text) { text, kid in
            text.replacing(kid.element, with: "key number ".prefix(11 - String(kid.offset).count) + String(kid.offset))
        }
    }

    private static func tombstone(_ index: Int) -> String {
        "tombstone" + String(UnicodeScalar(UInt8(65 + index))) + "A"
    }

    /// Shared keys, created once.
    private static let stock = Result {
        let place = try Workplace()
        return try (0..<12).map { index in
            let kid = try place.create("Keys/\(index)", "shared")
            let text = String(decoding: try place.read("Keys/\(index)/keyset.json"), as: UTF8.self)
            return (kid: kid, jwk: String(try #require(text.firstMatch(of: /\{"kty".*\}/)?.0)))
        }
    }

    /// Writes a public JWK set of new recipient keys with these lifecycle members; returns the kids.
    func writeSet(_ lifecycles: [String], suites: [String] = [], to file: String) throws -> [String] {
        var (keys, members, kids) = ([String](), [String](), [String]())
        for (index, lifecycle) in lifecycles.enumerated() {
            let options = suites.isEmpty ? [] : ["--suite", suites[index]]
            let kid = try create("\(file).keys/\(index)", "recipient", options, at: Self.now)
            let made = try KeysetFolder(folder.file("\(file).keys/\(index)").path).load(.none)
            var jwk = [UInt8]()
            try made.entries[0].record.publicRecord(keepingPSK: true).appendJWK(to: &jwk)
            keys.append(String(decoding: jwk, as: UTF8.self))
            members.append(#""\#(kid)":{\#(lifecycle)}"#)
            kids.append(kid)
        }
        let (list, lifecycles) = (keys.joined(separator: ","), members.joined(separator: ","))
        let set = #"{"keys":[\#(list)],"pushcrypt":{"seq":1,"keys":{\#(lifecycles)}}}"#
        try write(Data(set.utf8), to: file)
        return kids
    }

    /// The registration record of a keyset: its primary's public JWK, with its psk if it has one.
    func publicJWK(_ path: String) throws -> String {
        let keyset = try Keyset(folder: folder.file(path).path)
        let primary = try keyset.sealingEntry(at: #require(UnixTime(rfc3339: Self.now)))
        var jwk = [UInt8]()
        try primary.record.publicRecord(keepingPSK: true).appendJWK(to: &jwk)
        return String(decoding: jwk, as: UTF8.self)
    }

    /// The values of `d`, `k` and `psk` in a key file.
    func secrets(in path: String) throws -> [String] {
        let keys = try Payload.member("keys", of: try read(path)) as? [[String: String]] ?? []
        return keys.flatMap { key in ["d", "k", "psk"].compactMap { key[$0] } }
    }

    /// A keyset's file without its digest, which would refuse an edit.
    func readForEditing(_ path: String) throws -> Data {
        let text = String(decoding: try read(path), as: UTF8.self)
        return Data(text.replacing(/,\n  "digest": "[^"]*"/, with: "").utf8)
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

    /// Adds a key and restores the files that the change wrote after the keyset, as a crash in between would.
    func interruptedAdd(_ path: String, _ options: String...) throws {
        let names = ["public.jwks.json", "audit.jsonl"].filter { has("\(path)/\($0)") }
        let before = try names.map { try read("\(path)/\($0)") }
        let output = try run(["keys", "add", path, "--at", Self.now] + options)
        try #require(output.isSuccess, "\(output)")
        for (name, data) in zip(names, before) {
            try write(data, to: "\(path)/\(name)", mode: name == "audit.jsonl" ? 0o600 : 0o644)
        }
    }
}
