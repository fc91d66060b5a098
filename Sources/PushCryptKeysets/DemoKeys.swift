package import PushCryptCore
import PushCryptPrimitives

/// Keysets that are published with this project, including their private halves, for the demo and for trials. They protect
/// nothing and never change, so commands refuse them unless they are explicitly allowed.
package enum DemoKeys: String, CaseIterable, Sendable {
    case recipient, sender, shared

    /// The text of `Keys/demo/NAME.keyset`. It is here, too, so that the demo runs from any folder.
    package var file: [UInt8] { Array(text.utf8) }

    package func keyset() throws -> Keyset {
        let rows = try KeysetRows(file)
        return try Keyset(OpenedKeyset(rows.log, rows.unlocked(nil)))
    }

    private var text: String {
        switch self {
        case .recipient:
            #"""
            {"n":1,"at":"2026-01-01T00:00:00Z","who":"pushcrypt","what":"created",\#
            "prev":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",\#
            "why":"PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",\#
            "r":"AAAAAAAAAAAAAAAAAAAAAA","id":"demo_recipient_keys__A","kind":"recipient",\#
            "keys":{"nMfbZ7h-wC0":{"jwk":{"kty":"EC","crv":"P-256",\#
            "x":"4Vy2T83GEYVVeqBP2loFHzvsn7hbSlF7XtTiMz7dsac","y":"-q4jMugM6povRLYnbInoOzQbysdNR4yQHfdLn3cKhpY",\#
            "alg":"HPKE-7","kid":"nMfbZ7h-wC0"},"psk":true,"createdAt":"2026-01-01T00:00:00Z",\#
            "activatesAt":"2026-01-01T00:00:00Z"}}}
            {"v":1,"keys":[{"kty":"EC","crv":"P-256","x":"4Vy2T83GEYVVeqBP2loFHzvsn7hbSlF7XtTiMz7dsac",\#
            "y":"-q4jMugM6povRLYnbInoOzQbysdNR4yQHfdLn3cKhpY","d":"M3hIVfcP8IvVjgS61sE-wjSpe0NUPRE8qhH9nzNf-ac",\#
            "alg":"HPKE-7","kid":"nMfbZ7h-wC0","psk":"W_xJhb3JWn66K31bAydEMY0VE7IzxWRPSXbrbtrMC6Q"}],\#
            "digest":"uWaRblK8LKTIVAZexAVRhggee4W9rGlgxjtlpu7kmco"}

            """#
        case .sender:
            #"""
            {"n":1,"at":"2026-01-01T00:00:00Z","who":"pushcrypt","what":"created",\#
            "prev":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",\#
            "why":"PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",\#
            "r":"AAAAAAAAAAAAAAAAAAAAAA","id":"demo_sender_keys_____A","kind":"sender",\#
            "keys":{"EWVfjXi3nas":{"jwk":{"kty":"OKP","crv":"Ed25519",\#
            "x":"ee7jO2mw81pXDsTBVxG_5IEodQzhpwxIHhKZTJJfPXA","alg":"Ed25519","kid":"EWVfjXi3nas"},\#
            "createdAt":"2026-01-01T00:00:00Z","activatesAt":"2026-01-01T00:00:00Z"}}}
            {"v":1,"keys":[{"kty":"OKP","crv":"Ed25519","x":"ee7jO2mw81pXDsTBVxG_5IEodQzhpwxIHhKZTJJfPXA",\#
            "d":"iNSDlWG_8yUiFuFYMQ5hM-goi-2dA8HYskg-i1Kk_7c","alg":"Ed25519","kid":"EWVfjXi3nas"}],\#
            "digest":"c89HkAKS6Z9zsgAhny5w2qhWqM9IDCmaKEyM5zlNK3I"}

            """#
        case .shared:
            #"""
            {"n":1,"at":"2026-01-01T00:00:00Z","who":"pushcrypt","what":"created",\#
            "prev":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",\#
            "why":"PUBLISHED DEMO KEY: everybody has this private key. It protects nothing.",\#
            "r":"AAAAAAAAAAAAAAAAAAAAAA","id":"demo_shared_keys_____A","kind":"shared",\#
            "keys":{"Zv1EiPnFKa0":{"createdAt":"2026-01-01T00:00:00Z","activatesAt":"2026-01-01T00:00:00Z"}}}
            {"v":1,"keys":[{"kty":"oct","k":"lGyujY04i9CTOZqVCmYwwsqrZUWnLDFEOltp2LPQ0is","alg":"HKDF-A256GCM",\#
            "kid":"Zv1EiPnFKa0"}],"digest":"nw-Ho4SppNwnODSisTV797BKQb7BbkkPgb9HWH0xmVo"}

            """#
        }
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
