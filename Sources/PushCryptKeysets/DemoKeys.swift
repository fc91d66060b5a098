package import PushCryptCore
import PushCryptPrimitives

/// Keys that are published with this project, including their private halves, for the demo and for trials. They protect
/// nothing, so all other commands refuse them unless they are explicitly allowed.
///
/// The texts are copies of the files in Keys/demo, so that the demo runs from any folder.
package enum DemoKeys {
    package static let recipientJSON = #"""
        {
          "comment": "PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",
          "keys": [
            {"kty":"EC","crv":"P-256","x":"4Vy2T83GEYVVeqBP2loFHzvsn7hbSlF7XtTiMz7dsac",\#
        "y":"-q4jMugM6povRLYnbInoOzQbysdNR4yQHfdLn3cKhpY","d":"M3hIVfcP8IvVjgS61sE-wjSpe0NUPRE8qhH9nzNf-ac",\#
        "alg":"HPKE-7","kid":"nMfbZ7h-wC0","psk":"W_xJhb3JWn66K31bAydEMY0VE7IzxWRPSXbrbtrMC6Q"}
          ],
          "pushcrypt": {"seq": 1, "updatedAt": "2026-01-01T00:00:00Z", "keys": {
            "nMfbZ7h-wC0": {"createdAt": "2026-01-01T00:00:00Z", "activatesAt": "2026-01-01T00:00:00Z",\#
         "psk": true}
          }}
        }
        """#

    package static let senderJSON = #"""
        {
          "comment": "PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",
          "keys": [
            {"kty":"OKP","crv":"Ed25519","x":"ee7jO2mw81pXDsTBVxG_5IEodQzhpwxIHhKZTJJfPXA",\#
        "d":"iNSDlWG_8yUiFuFYMQ5hM-goi-2dA8HYskg-i1Kk_7c","alg":"Ed25519","kid":"EWVfjXi3nas"}
          ],
          "pushcrypt": {"seq": 1, "updatedAt": "2026-01-01T00:00:00Z", "keys": {
            "EWVfjXi3nas": {"createdAt": "2026-01-01T00:00:00Z", "activatesAt": "2026-01-01T00:00:00Z"}
          }}
        }
        """#

    package static let sharedJSON = #"""
        {
          "comment": "PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",
          "keys": [
            {"kty":"oct","k":"lGyujY04i9CTOZqVCmYwwsqrZUWnLDFEOltp2LPQ0is","alg":"HKDF-A256GCM",\#
        "kid":"Zv1EiPnFKa0"}
          ],
          "pushcrypt": {"seq": 1, "updatedAt": "2026-01-01T00:00:00Z", "keys": {
            "Zv1EiPnFKa0": {"createdAt": "2026-01-01T00:00:00Z", "activatesAt": "2026-01-01T00:00:00Z"}
          }}
        }
        """#

    /// The texts of the files `Keys/demo/NAME.keyset` by their names: the same keys. They never change.
    package static func keysetFiles() throws -> [String: [UInt8]] {
        [
            "recipient": try keysetFile(recipientJSON, id: "demo_recipient_keys__A"),
            "sender": try keysetFile(senderJSON, id: "demo_sender_keys_____A"),
            "shared": try keysetFile(sharedJSON, id: "demo_shared_keys_____A"),
        ]
    }

    private static func keysetFile(_ json: String, id: String) throws -> [UInt8] {
        let keyset = try Keyset(json: Array(json.utf8))
        guard let id = KeysetID(id.utf8), let time = keyset.updatedAt else { preconditionFailure("\(id) is no id") }
        var changes = KeysetChanges()
        for entry in keyset.entries {
            var key = KeysetChanges.Key(entry.record.kid)
            (key.jwk, key.demandsPSK) = (try PublicJWK(entry.record), entry.demandsPSK)
            key.moments = [.createdAt: time, .activatesAt: time]
            changes.keys.append(key)
        }
        let why = KeysetLine.Reason(
            "PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",
            salt: [UInt8](repeating: 0, count: KeysetLine.Reason.saltByteCount))
        let log = try KeysetLog(creating: id, keyset.kind, at: time, who: "pushcrypt", why: why, changes)
        let records = Dictionary(uniqueKeysWithValues: keyset.entries.map { ($0.record.kid, $0.record) })
        return try KeysetMaterial(records: records, secrets: nil, historyKey: nil).file(log)
    }

    /// Whether any key of the set is a demo key.
    package static func contains(_ keyset: Keyset) -> Bool {
        keyset.keyIDs.contains { ids.contains($0.description) }
    }

    /// Whether all these keys are demo keys, so that their file contains no secret. False for no keys.
    package static func covers(_ kids: [KeyID]) -> Bool {
        !kids.isEmpty && kids.allSatisfy { ids.contains($0.description) }
    }

    static let ids: Set<String> = ["nMfbZ7h-wC0", "EWVfjXi3nas", "Zv1EiPnFKa0"]
}
