import PushCryptPrimitives
import Testing

@testable import PushCryptHPKE

@Suite struct PSKTests {
    /// RFC 9180 section 9.5: 32 bytes of entropy need at least 32 bytes.
    @Test func length() throws {
        for count in 0...64 {
            let secret = SecretBytes(count: count) { _ in }
            let code = try hpkeErrorCode { try PSK(secret, id: [1]) }
            #expect(code == (count < 32 ? .invalidPSK : nil), "\(count) bytes")
        }
    }

    /// Section 5.1, VerifyPSKInputs(): a psk without a psk_id is an error.
    @Test func id() throws {
        let secret = SecretBytes(count: 32) { _ in }
        #expect(try hpkeErrorCode { try PSK(secret, id: []) } == .invalidPSK)
        for count in [1, 32, 1000] {
            #expect(try hpkeErrorCode { try PSK(secret, id: [UInt8](repeating: 0, count: count)) } == nil)
        }
    }

    @Test func showsNoBytes() throws {
        let psk = try PSK(SecretBytes(copying: Parties.seed(0xab).bytes), id: [1])
        var text = "\(psk) \(String(reflecting: psk)) "
        dump(psk, to: &text)
        #expect(text.contains("redacted"))
        #expect(!text.contains("171") && !text.lowercased().contains("abab"))
    }
}
