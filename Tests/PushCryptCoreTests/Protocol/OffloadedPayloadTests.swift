import Testing

@testable import PushCryptCore

@Suite struct OffloadedPayloadTests {
    private static func json(_ byteCount: Int) -> [UInt8] {
        let frame = #"{"aps":{"alert":""}}"#.utf8.count
        return Array(#"{"aps":{"alert":"\#(String(repeating: "a", count: byteCount - frame))"}}"#.utf8)
    }

    @Test(
        "a payload is padded with spaces to a multiple of 4 KiB",
        arguments: [
            (30, 4_096), (4_095, 4_096), (4_096, 4_096), (4_097, 8_192), (262_143, 262_144), (262_144, 262_144),
        ])
    func padded(count: Int, padded: Int) throws {
        let plaintext = try OffloadedPayload.plaintext(json: Self.json(count))
        #expect(plaintext.count == padded)
        #expect(plaintext[count...].allSatisfy { $0 == UInt8(ascii: " ") })
        let payload = try OffloadedPayload.innerPayload(plaintext: plaintext)
        #expect(payload.text.bytes == Self.json(count))
        #expect(payload.paddingByteCount == padded - count)
    }

    static let wrong = [
        "", " ", "{}", "x", #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#, #"{"aps":{"alert":"x"},"pushcrypt":{}}"#,
        #"{"aps":{"alert":"x"},"pushcrypt":null}"#, #"{"aps":{"alert":"x"},"\u0070ushcrypt":1}"#,
        #"{"aps":{"alert":"x"}}x"#, #"{"aps":{"alert":"x"},"a":1,"a":1}"#, "[]",
    ]

    @Test("a payload that can't be sealed can't be offloaded", arguments: wrong)
    func refused(text: String) {
        #expect(throws: (any Error).self) { try OffloadedPayload.plaintext(json: Array(text.utf8)) }
        for padding in ["", "    "] {
            #expect(throws: FailureClass.malformed) {
                try OffloadedPayload.innerPayload(plaintext: Array((text + padding).utf8))
            }
        }
    }

    @Test("a payload above 256 KiB is refused")
    func tooLong() throws {
        #expect(throws: InnerPayload.Flaw.self) { try OffloadedPayload.plaintext(json: Self.json(262_145)) }
        let long = Self.json(30) + [UInt8](repeating: UInt8(ascii: " "), count: 1 << 18)
        #expect(throws: FailureClass.malformed) { try OffloadedPayload.innerPayload(plaintext: long) }
    }

    @Test("a payload with any padding is read", arguments: [0, 1, 4_000])
    func anyPadding(count: Int) throws {
        let spaces = [UInt8](repeating: UInt8(ascii: " "), count: count)
        let payload = try OffloadedPayload.innerPayload(plaintext: Self.json(50) + spaces)
        #expect(payload.text.bytes == Self.json(50))
    }
}
