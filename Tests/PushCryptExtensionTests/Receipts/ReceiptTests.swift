import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct ReceiptTests {
    private static let kid = KeyID("AAAAAAAAAAA")!
    private static let message = "BBBBBBBBBBBBBBBBBBBBBA"

    @Test("the receipt of a restored push has push_id and no key")
    func opened() throws {
        let receipt = try Receipt(.sample(nil, Self.message, pushID: "order-\"7\"", kid: Self.kid))
        #expect(
            receipt.json.text
                == #"{"id":"BBBBBBBBBBBBBBBBBBBBBA","push":"order-\"7\"","outcome":"opened","time":1800000000}"#)
    }

    @Test("the receipt of a push without push_id has the message id")
    func messageID() throws {
        let receipt = try Receipt(.sample(nil, Self.message))
        #expect(
            receipt.json.text
                == #"{"id":"\#(Self.message)","push":"\#(Self.message)","outcome":"opened","time":1800000000}"#)
    }

    @Test("the receipt of a push that failed after opening has another id and the key")
    func failed() throws {
        let receipt = try Receipt(.sample(.timedOut, Self.message, pushID: "7", kid: Self.kid))
        #expect(
            receipt.json.text
                == #"{"id":"\#(Self.message)-timedOut","push":"7","outcome":"timedOut","time":1800000000,"kid":"AAAAAAAAAAA"}"#
        )
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

    @Test("a push_id of more than 256 bytes is replaced by the message id", arguments: [256, 257])
    func longName(_ count: Int) throws {
        let name = String(repeating: "x", count: count)
        let receipt = try Receipt(.sample(nil, Self.message, pushID: name))
        #expect(receipt.pushID == (count == 256 ? name : Self.message))
    }
}
