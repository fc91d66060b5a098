import PushCryptKeysets
import PushCryptPrimitives

extension KeysetSecret {
    static func test(_ passphrase: String) -> KeysetSecret {
        let bytes = Array(passphrase.utf8)
        return .passphrase(SecretBytes(copying: bytes.bytes))
    }
}

extension Protection {
    /// A passphrase with cheap scrypt parameters.
    static let cheap = Protection.passphrase(try! ScryptParameters(n: 16, r: 8, p: 1))
}
