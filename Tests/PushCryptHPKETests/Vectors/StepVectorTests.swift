import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// Conformance/vectors/steps-v1.json: one push of each suite with every value on the way. `PushCryptPropertyTests` opens the pushes.
@Suite struct StepVectorTests {
    struct File: Decodable { let pushes: [Push] }

    struct Push: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let suite: Int
        let key: [String: String]
        let values: [String: HexBytes]

        var description: String { name }
        func value(_ name: String) throws -> HexBytes { try #require(values[name], "\(name)") }
    }

    private static func pushes() throws -> [Push] { try Vectors.loadOwn("steps-v1.json", as: File.self).pushes }

    /// KEM, AEAD and the JWK's member with the private key, by suite.
    private static let suites: [Int: (KEM, AEAD, String)] = [
        1: (.dhkemP256, .aes256GCM, "d"), 2: (.dhkemX25519, .aes128GCM, "d"), 3: (.xWing, .aes256GCM, "priv"),
    ]

    @Test(
        "Decap, the key schedule and Open return the values of one push of each suite with HPKE",
        arguments: Backends.pairs(with: try pushes().filter { $0.suite != 4 }) { $0.suite == 3 })
    func hpke(_ push: Push, _ named: NamedBackend) throws {
        let (kem, aead, member) = try #require(Self.suites[push.suite])
        let hpke = HPKE(kem: kem, aead: aead, backend: named.backend)
        let secretKey = try #require(push.key[member].flatMap(Base64URLReference.decode))
        let key = try named.backend.privateKey(kem.keyPairType, secretKey.bytes)
        let (enc, info, ct) = (try push.value("enc"), try push.value("info"), try push.value("ct"))
        let (secretPSK, pskID) = (try push.value("psk"), try push.value("psk_id"))
        let psk = try secretPSK.bytes.isEmpty ? nil : PSK(SecretBytes(copying: secretPSK.span), id: pskID.bytes)
        let secret = try SecretBytes(count: HPKE.sharedSecretByteCount) { secret in
            try hpke.decap(enc.span, with: key, senderKey: nil, into: &secret)
        }
        #expect(secret.revealed == (try push.value("shared_secret").bytes))
        let mode = Mode(hasPSK: psk != nil, hasSenderKey: false)
        try hpke.withKeySchedule(mode, sharedSecret: secret.bytes, info: info.span, psk: psk) { schedule in
            let context = Array(schedule.context)
            #expect(context == (try push.value("key_schedule_context").bytes))
            let secrets = try ContextSecrets(hpke, schedule)
            let cipher = try #require(secrets.cipher)
            #expect(cipher.key.revealed == (try push.value("key").bytes))
            #expect(cipher.baseNonce.revealed == (try push.value("base_nonce").bytes))
        }
        var context = try hpke.setupRecipient(enc: enc.span, with: key, info: info.span, psk: psk)
        let plaintext = try context.open(ct.span, aad: .init())
        #expect(plaintext == (try push.value("plaintext").bytes))
    }

    @Test("HKDF and AES-256-GCM return the values of the push of suite 4", arguments: Backends.all)
    func shared(_ named: NamedBackend) throws {
        let push = try #require(try Self.pushes().last)
        let master = try #require(push.key["k"].flatMap(Base64URLReference.decode))
        let (salt, info, ct) = (try push.value("salt"), try push.value("info"), try push.value("ct"))
        let (key, nonce) = (try push.value("key"), try push.value("nonce"))
        let prk = HKDF.extract(salt: salt.span, ikm: master.bytes, backend: named.backend)
        #expect(prk.revealed == (try push.value("prk").bytes))
        let okm = try HKDF.expand(named.backend.hmacSHA256(key: prk.bytes), info: info.span, count: 44)
        #expect(okm.revealed == key.bytes + nonce.bytes)
        let plaintext = try named.backend.open(
            .aes256GCM, key: key.span, nonce: nonce.span, aad: .init(), ciphertext: ct.span)
        #expect(plaintext == (try push.value("plaintext").bytes))
    }

    @Test func `the file has one push of each of the four suites`() throws {
        #expect(try Self.pushes().map(\.suite) == [1, 2, 3, 4])
    }
}
