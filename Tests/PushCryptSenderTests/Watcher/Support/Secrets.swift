import PushCryptKeysets
import PushCryptPrimitives

extension KeysetSecret {
    static func test(_ passphrase: String) -> KeysetSecret {
        let bytes = Array(passphrase.utf8)
        return .passphrase(SecretBytes(copying: bytes.bytes))
    }
}
