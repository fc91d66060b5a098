import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// One vector with its keys imported into one backend.
struct VectorCheck {
    let vector: HPKEVector
    let hpke: HPKE
    let recipient, ephemeral: any DecapsulationKey
    let sender: (any DecapsulationKey)?
    let senderPublic: (any EncapsulationKey)?
    let psk: PSK?
    let mode: Mode

    init(_ vector: HPKEVector, _ named: NamedBackend) throws {
        self.vector = vector
        let backend = named.backend
        let kem = try #require(KEM(rawValue: vector.kemID))
        let aead = try #require(AEAD(rawValue: vector.aeadID))
        #expect(vector.kdfID == HPKE.kdfID)
        hpke = HPKE(kem: kem, aead: aead, backend: backend)
        recipient = try backend.privateKey(kem.keyPairType, vector.skRm.span)
        ephemeral = try backend.privateKey(kem.keyPairType, vector.skEm.span)
        sender = try vector.skSm.map { try backend.privateKey(kem.keyPairType, $0.span) }
        senderPublic = try vector.pkSm.map { try backend.publicKey(kem.keyPairType, $0.span) }
        psk = try vector.psk.map { psk in
            try PSK(SecretBytes(copying: psk.span), id: try #require(vector.pskID).bytes)
        }
        mode = try #require(Mode(rawValue: vector.mode))
        #expect(mode == Mode(hasPSK: psk != nil, hasSenderKey: sender != nil))
    }

    func senderSetup() throws -> SenderSetup {
        try hpke.setupSender(
            to: recipient.publicKey, info: vector.info.span, psk: psk, senderKey: sender, ephemeral: ephemeral)
    }

    func recipientContext() throws -> RecipientContext {
        try hpke.setupRecipient(
            enc: vector.enc.span, with: recipient, info: vector.info.span, psk: psk,
            senderKey: senderPublic)
    }

    /// DeriveKeyPair() of all parties, and the public keys of the imported ones.
    func keys() throws {
        try key(vector.ikmR, vector.skRm, vector.pkRm, recipient)
        try key(vector.ikmE, vector.skEm, vector.pkEm, ephemeral)
        if let sender {
            try key(try #require(vector.ikmS), try #require(vector.skSm), try #require(vector.pkSm), sender)
        }
    }

    private func key(_ ikm: HexBytes, _ sk: HexBytes, _ pk: HexBytes, _ imported: any DecapsulationKey) throws {
        let derived = try hpke.deriveKeyPair(ikm.span)
        #expect(try derived.serialized.revealed == sk.bytes)
        #expect(derived.publicKey.serialized == pk.bytes)
        #expect(imported.publicKey.serialized == pk.bytes)
    }

    func sharedSecrets() throws {
        var enc = [UInt8]()
        let encapsulated = try SecretBytes(count: HPKE.sharedSecretByteCount) { secret in
            try hpke.encap(
                to: recipient.publicKey, senderKey: sender, ephemeral: ephemeral, into: &secret, appendingEncTo: &enc)
        }
        #expect(enc == vector.enc.bytes)
        #expect(encapsulated.revealed == vector.sharedSecret.bytes)
        let decapsulated = try SecretBytes(count: HPKE.sharedSecretByteCount) { secret in
            try hpke.decap(vector.enc.span, with: recipient, senderKey: senderPublic, into: &secret)
        }
        #expect(decapsulated.revealed == vector.sharedSecret.bytes)
    }

    func keySchedule() throws {
        try hpke.withKeySchedule(
            mode, sharedSecret: vector.sharedSecret.span, info: vector.info.span, psk: psk
        ) { schedule in
            try check(ContextSecrets(hpke, schedule))
        }
    }

    private func check(_ secrets: ContextSecrets) {
        #expect(secrets.exporterSecret.revealed == vector.exporterSecret.bytes)
        if let cipher = secrets.cipher {
            #expect(cipher.key.revealed == vector.key.bytes)
            #expect(cipher.baseNonce.revealed == vector.baseNonce.bytes)
            for (number, encryption) in vector.numberedEncryptions {
                #expect(SequenceNumber(number).nonce(cipher.baseNonce) == encryption.nonce.bytes)
            }
        } else {
            #expect(vector.key.bytes.isEmpty && vector.baseNonce.bytes.isEmpty && vector.encryptions.isEmpty)
        }
    }
}
