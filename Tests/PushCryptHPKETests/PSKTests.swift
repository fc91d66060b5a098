import PushCryptPrimitives
import Testing

@testable import PushCryptHPKE

@Suite struct PSKTests {
    @Test("a PSK below 32 bytes is refused with invalidPSK (RFC 9180 section 9.5)")
    func length() throws {
        for count in 0...64 {
            let secret = SecretBytes(count: count) { _ in }
            let code = try hpkeErrorCode { try PSK(secret, id: [1]) }
            #expect(code == (count < 32 ? .invalidPSK : nil), "\(count) bytes")
        }
    }

    @Test("a PSK with an empty psk_id is refused with invalidPSK (RFC 9180 section 5.1)")
    func id() throws {
        let secret = SecretBytes(count: 32) { _ in }
        #expect(try hpkeErrorCode { try PSK(secret, id: []) } == .invalidPSK)
        for count in [1, 32, 1000] {
            #expect(try hpkeErrorCode { try PSK(secret, id: [UInt8](repeating: 0, count: count)) } == nil)
        }
    }

    @Test("printing a PSK shows none of its bytes")
    func showsNoBytes() throws {
        let psk = try PSK(SecretBytes(copying: Parties.seed(0xab).bytes), id: [1])
        var text = "\(psk) \(String(reflecting: psk)) "
        dump(psk, to: &text)
        #expect(text.contains("redacted"))
        #expect(!text.contains("171") && !text.lowercased().contains("abab"))
    }
}
