/// An encrypted container whose parts can be changed. Its ciphertext decrypts to nothing valid.
struct PBES2Scheme {
    var scheme = DER.element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d])
    var derivation: [UInt8]
    var cost: [UInt8]
    var prf = DER.element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x02, 0x09])
    /// AES-256-CBC.
    var cipher = DER.element(0x06, [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a])
    var iv = DER.octets([UInt8](repeating: 0, count: 16))

    /// PBKDF2 with HMAC-SHA-256.
    init(iterations: [UInt8]) {
        derivation = DER.element(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0c])
        cost = DER.element(0x02, iterations)
    }

    /// N, r, p.
    init(scrypt numbers: [[UInt8]]) {
        derivation = DER.element(0x06, [0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b])
        cost = numbers.flatMap { DER.element(0x02, $0) }
        prf = []
    }

    var container: [UInt8] {
        let salt = DER.octets([UInt8](repeating: 1, count: 16))
        let function = prf.isEmpty ? [] : DER.sequence(prf, DER.element(0x05))
        let parameters = DER.sequence(
            DER.sequence(derivation, DER.sequence(salt, cost, function)), DER.sequence(cipher, iv))
        return DER.sequence(DER.sequence(scheme, parameters), DER.octets([UInt8](repeating: 2, count: 64)))
    }
}
