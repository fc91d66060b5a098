import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct ReceiptTests {
    private static let kid = KeyID("AAAAAAAAAAA")!
    private static let message = "BBBBBBBBBBBBBBBBBBBBBA"
    /// Computed by Python's hashlib.
    private static let name = "QYQ7oTAS2VrGRAnrYya3TfXBxZtdgvHP3H5T1cmMwdw"

    @Test(
        "a receipt has the push_id or else the message's name, and after a failure another id and the key",
        arguments: [
            (
                DeliveryReport.sample(nil, message, pushID: "order-\"7\"", kid: kid),
                #"{"id":"\#(name)","push":"order-\"7\"","outcome":"opened","time":1800000000}"#
            ),
            (
                .sample(nil, message), #"{"id":"\#(name)","push":"\#(name)","outcome":"opened","time":1800000000}"#
            ),
            (
                .sample(.timedOut, message, pushID: "7", kid: kid),
                #"{"id":"\#(name)-timedOut","push":"7","outcome":"timedOut","time":1800000000,"kid":"AAAAAAAAAAA"}"#
            ),
        ])
    func written(_ report: DeliveryReport, _ json: String) throws {
        #expect(try Receipt(report).json.text == json)
    }

    @Test("receipts of pushes that couldn't be opened have random ids and no push")
    func unknown() throws {
        let receipts = try (0..<2).map { _ in try Receipt(.sample(.undecryptable, kid: Self.kid)) }
        #expect(receipts[0].id != receipts[1].id)
        #expect(receipts.allSatisfy { $0.id.utf8.count == 22 })
        #expect(
            receipts[0].json.text
                == #"{"id":"\#(receipts[0].id)","outcome":"undecryptable","time":1800000000,"kid":"AAAAAAAAAAA"}"#)
    }

    @Test("a push_id of more than 256 bytes is replaced by the message's name", arguments: [256, 257])
    func longName(_ count: Int) throws {
        let name = String(repeating: "x", count: count)
        let receipt = try Receipt(.sample(nil, Self.message, pushID: name))
        #expect(receipt.pushID == (count == 256 ? name : Self.name))
    }

    @Test("no receipt has the message id", arguments: [nil, .timedOut, .attachmentFailed] as [FailureClass?])
    func withoutID(_ failure: FailureClass?) throws {
        let receipt = try Receipt(.sample(failure, Self.message, kid: Self.kid))
        #expect(!receipt.json.text.contains(Self.message))
        #expect(receipt.pushID == ReceiptName(messageID: Self.message)?.description)
    }

    @Test("the form of a receipt has its members as fields, with other characters than letters and digits escaped")
    func fields() throws {
        let json = #"{"id":"A-b_c.*","push":"a b&c=d+e%f\"Ää\u0000~/😀","outcome":"opened","time":1800000000}"#
        // As Python's urlencode writes it, except for "*" and "~", which the URL Standard treats differently.
        #expect(
            FormFields.encode(Array(json.utf8)).text
                == "id=A-b_c.*&push=a+b%26c%3Dd%2Be%25f%22%C3%84%C3%A4%00%7E%2F%F0%9F%98%80&outcome=opened"
                + "&time=1800000000")
    }

    @Test("a form of text that isn't a JSON object is empty", arguments: ["", "[1]", "x"])
    func notAnObject(json: String) { #expect(FormFields.encode(Array(json.utf8)).isEmpty) }
}
