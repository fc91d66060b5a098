import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptHPKE

extension VectorCheck {
    /// Seals and opens all messages with one pair of contexts. If the vector skips numbers, the contexts are set to the next
    /// one; otherwise they must have reached it themselves.
    func encryptions() throws {
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

    func exports() throws {
        let setup = try senderSetup()
        let receiving = try recipientContext()
        for export in vector.exports {
            let context = export.exporterContext.bytes
            let sent = try setup.context.export(context.bytes, count: export.count).revealed
            #expect(sent == export.value.bytes)
            let received = try receiving.export(context.bytes, count: export.count).revealed
            #expect(received == export.value.bytes)
        }
    }

    /// Seal() and Open() of section 6, where the vector has the message with the sequence number 0.
    func singleShot() throws {
        guard let (_, first) = vector.numberedEncryptions.first(where: { $0.sequence == 0 }) else { return }
        let prefix = Array("prefix".utf8)
        var output = prefix
        try hpke.seal(
            first.pt.span, to: recipient.publicKey, info: vector.info.span, aad: first.aad.span,
            psk: psk, senderKey: sender, ephemeral: ephemeral, appendingTo: &output)
        let sealed = vector.enc.bytes + first.ct.bytes
        #expect(output == prefix + sealed)
        let opened = try hpke.open(
            sealed.bytes, with: recipient, info: vector.info.span, aad: first.aad.span, psk: psk,
            senderKey: senderPublic)
        #expect(opened == first.pt.bytes)
    }
}
