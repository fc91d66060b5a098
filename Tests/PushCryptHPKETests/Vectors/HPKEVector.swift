import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

/// One vector in the form of draft-irtf-cfrg-hpke's test-vectors.json.
struct HPKEVector: Decodable, Sendable {
    struct Encryption: Decodable, Sendable {
        /// Absent where the position in the list is the sequence number.
        let seq: UInt64?
        let pt, aad, nonce, ct: HexBytes
    }

    struct Export: Decodable, Sendable {
        enum CodingKeys: String, CodingKey {
            case exporterContext = "exporter_context"
            case count = "L"
            case value = "exported_value"
        }

        let exporterContext: HexBytes
        let count: Int
        let value: HexBytes
    }

    enum CodingKeys: String, CodingKey {
        case section, mode, info, ikmR, ikmE, ikmS, skRm, skEm, skSm, pkRm, pkEm, pkSm, psk, enc, key
        case encryptions, exports
        case kemID = "kem_id"
        case kdfID = "kdf_id"
        case aeadID = "aead_id"
        case pskID = "psk_id"
        case sharedSecret = "shared_secret"
        case baseNonce = "base_nonce"
        case exporterSecret = "exporter_secret"
    }

    /// The section of RFC 9180; only in the project's own file.
    let section: String?
    let mode: UInt8
    let kemID, kdfID, aeadID: UInt16
    let info, ikmR, ikmE, skRm, skEm, pkRm, pkEm, enc, sharedSecret, key, baseNonce, exporterSecret: HexBytes
    let ikmS, skSm, pkSm, psk, pskID: HexBytes?
    let encryptions: [Encryption]
    let exports: [Export]

    var numberedEncryptions: [(sequence: UInt64, Encryption)] {
        encryptions.enumerated().map { index, encryption in (encryption.seq ?? UInt64(index), encryption) }
    }
}

extension HPKEVector: CustomStringConvertible {
    var description: String {
        let names = ["\(Mode(rawValue: mode)!)", "\(KEM(rawValue: kemID)!)", "\(AEAD(rawValue: aeadID)!)"]
        let place = section ?? encryptions.first?.seq.map { "from \($0)" }
        return ([place] + names).compactMap(\.self).joined(separator: " ")
    }
}

extension HPKEVector {
    static func published(_ name: String) throws -> [HPKEVector] {
        try Vectors.load("hpke/test-vectors-\(name).json", as: [HPKEVector].self)
    }

    static func appendixA() throws -> [HPKEVector] {
        try Vectors.loadOwn("rfc9180-appendix-a.json", as: [HPKEVector].self)
    }
}

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
        #expect(vector.kdfID == HPKE.kdfID)
        hpke = HPKE(kem: kem, aead: try #require(AEAD(rawValue: vector.aeadID)), backend: backend)
        recipient = try backend.privateKey(kem.keyPairType, vector.skRm.span)
        ephemeral = try backend.privateKey(kem.keyPairType, vector.skEm.span)
        sender = try vector.skSm.map { try backend.privateKey(kem.keyPairType, $0.span) }
        senderPublic = try vector.pkSm.map { try backend.publicKey(kem.keyPairType, $0.span) }
        psk = try vector.psk.map { try PSK(SecretBytes(copying: $0.span), id: #require(vector.pskID).bytes) }
        mode = try #require(Mode(rawValue: vector.mode))
        #expect(mode == Mode(hasPSK: psk != nil, hasSenderKey: sender != nil))
    }

    private func senderSetup() throws -> SenderSetup {
        try hpke.setupSender(
            to: recipient.publicKey, info: vector.info.span, psk: psk, senderKey: sender, ephemeral: ephemeral)
    }

    private func recipientContext() throws -> RecipientContext {
        try hpke.setupRecipient(
            enc: vector.enc.span, with: recipient, info: vector.info.span, psk: psk, senderKey: senderPublic)
    }

    func checkEachStep() throws {
        try keys()
        try sharedSecrets()
        try keySchedule()
        try encryptions()
        try exports()
        try singleShot()
    }

    /// DeriveKeyPair() of all parties, and the public keys of the imported ones.
    private func keys() throws {
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

    private func sharedSecrets() throws {
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

    private func keySchedule() throws {
        try hpke.withKeySchedule(
            mode, sharedSecret: vector.sharedSecret.span, info: vector.info.span, psk: psk
        ) { try check(ContextSecrets(hpke, $0)) }
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

    /// Seals and opens all messages with one pair of contexts. If the vector skips numbers, the contexts are set to the next
    /// one; otherwise they must have reached it themselves.
    private func encryptions() throws {
        var setup = try senderSetup()
        var receiving = try recipientContext()
        #expect(setup.enc == vector.enc.bytes)
        var next: UInt64 = 0
        for (number, encryption) in vector.numberedEncryptions {
            if number != next {
                setup.context.sequence = SequenceNumber(number)
                receiving.sequence = SequenceNumber(number)
            }
            let ciphertext = try setup.context.seal(encryption.pt.span, aad: encryption.aad.span)
            #expect(ciphertext == encryption.ct.bytes, "sequence number \(number)")
            let plaintext = try receiving.open(encryption.ct.span, aad: encryption.aad.span)
            #expect(plaintext == encryption.pt.bytes, "sequence number \(number)")
            next = number + 1
        }
    }

    private func exports() throws {
        let setup = try senderSetup()
        let receiving = try recipientContext()
        for export in vector.exports {
            let sent = try setup.context.export(export.exporterContext.span, count: export.count).revealed
            let received = try receiving.export(export.exporterContext.span, count: export.count).revealed
            #expect(sent == export.value.bytes)
            #expect(received == export.value.bytes)
        }
    }

    /// Seal() and Open() of section 6, where the vector has the message with the sequence number 0.
    private func singleShot() throws {
        guard let (_, first) = vector.numberedEncryptions.first(where: { $0.sequence == 0 }) else { return }
        let prefix = Array("prefix".utf8)
        var output = prefix
        try hpke.seal(
            first.pt.span, to: recipient.publicKey, info: vector.info.span, aad: first.aad.span, psk: psk,
            senderKey: sender, ephemeral: ephemeral, appendingTo: &output)
        let sealed = vector.enc.bytes + first.ct.bytes
        #expect(output == prefix + sealed)
        let opened = try hpke.open(
            sealed.bytes, with: recipient, info: vector.info.span, aad: first.aad.span, psk: psk,
            senderKey: senderPublic)
        #expect(opened == first.pt.bytes)
    }
}
