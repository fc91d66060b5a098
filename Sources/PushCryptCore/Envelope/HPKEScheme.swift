import PushCryptHPKE
import PushCryptPrimitives

// Objects, as `SharedSecretScheme` is: threads that seal to one recipient, or open with one key, share it, and a struct's
// copies would count a reference for each of its parts, which costs most where threads do it at once.

/// HPKE to one recipient: suites 1 and 2.
final class HPKESealing: Sendable {
    let publicKey: any DHPublicKey
    let psk: PSK?
    private let hpke: HPKE

    init(_ hpke: HPKE, _ publicKey: any DHPublicKey, _ psk: PSK?) {
        (self.hpke, self.publicKey, self.psk) = (hpke, publicKey, psk)
    }

    func seal(_ plaintext: Span<UInt8>, info: Span<UInt8>, appendingTo sealed: inout [UInt8]) throws {
        try hpke.seal(plaintext, to: publicKey, info: info, psk: psk, appendingTo: &sealed)
    }
}

/// HPKE with one recipient's key: suites 1 and 2.
final class HPKEOpening: Sendable {
    let privateKey: any DHPrivateKey
    let psk: PSK?
    private let hpke: HPKE

    init(_ hpke: HPKE, _ privateKey: any DHPrivateKey, _ psk: PSK?) {
        (self.hpke, self.privateKey, self.psk) = (hpke, privateKey, psk)
    }

    func open(_ sealed: Span<UInt8>, info: Span<UInt8>) throws -> [UInt8] {
        try hpke.open(sealed, with: privateKey, info: info, psk: psk)
    }
}
