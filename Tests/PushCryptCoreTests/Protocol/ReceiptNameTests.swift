import Testing

@testable import PushCryptCore

@Suite struct ReceiptNameTests {
    @Test("the name of a message is SHA-256 of the label, a zero byte and the 16 bytes of the id")
    func value() {
        // Computed by Python's hashlib.
        #expect(
            ReceiptName(messageID: "BBBBBBBBBBBBBBBBBBBBBA")?.description
                == "QYQ7oTAS2VrGRAnrYya3TfXBxZtdgvHP3H5T1cmMwdw")
    }

    @Test(
        "an id that isn't 22 characters of canonical base64url has no name",
        arguments: [
            "", "BBBBBBBBBBBBBBBBBBBBBB", "BBBBBBBBBBBBBBBBBBBBB", "BBBBBBBBBBBBBBBBBBBBB+", "BBBBBBBBBBBBBBBBBBBBBBBA",
        ])
    func malformed(id: String) { #expect(ReceiptName(messageID: id) == nil) }
}
