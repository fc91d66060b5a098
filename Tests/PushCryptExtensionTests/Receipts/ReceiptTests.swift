import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct ReceiptTests {
    private static let kid = KeyID("AAAAAAAAAAA")!
    private static let message = "BBBBBBBBBBBBBBBBBBBBBA"
    /// Computed by Python's hashlib.
    private static let name = "QYQ7oTAS2VrGRAnrYya3TfXBxZtdgvHP3H5T1cmMwdw"

    @Test(
        "a receipt has the push_id or else the message's name, after a failure another id and the key, and never the id",
        arguments: [
            (DeliveryReport.sample(nil, message, pushID: "order-\"7\"", kid: kid), "", #"order-\"7\""#, "opened", ""),
            (.sample(nil, message), "", name, "opened", ""),
            (.sample(.timedOut, message, pushID: "7", kid: kid), "-timedOut", "7", "timedOut", #","kid":"\#(kid)""#),
            (.sample(.attachmentFailed, message), "-attachmentFailed", name, "attachmentFailed", ""),
        ])
    func written(_ report: DeliveryReport, ending: String, push: String, outcome: String, kid: String) throws {
        let json =
            #"{"id":"\#(Self.name)\#(ending)","push":"\#(push)","outcome":"\#(outcome)","time":1800000000\#(kid)}"#
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

@Suite struct ReceiptSpoolTests {
    private let folder = StoreFolder {
        $0.receiptLimit = 4
        $0.receiptLifetimeInSeconds = 100
    }
    private var store: SharedStore { folder.first }

    /// The ids of the stored receipts, in order.
    private func waiting() throws -> [String] {
        var (ids, number) = ([String](), Int64(0))
        while let receipt = try store.receipt(after: number) {
            let json = try JSONText(receipt.json).root
            let failure = json["outcome"]?.string == "opened" ? "" : "-\(json["outcome"]?.string ?? "")"
            ids.append((json["push"]?.string ?? "") + failure)
            number = receipt.number
        }
        return ids
    }

    private func spool(_ id: String, _ failure: FailureClass? = nil, at time: Int64 = 0) throws {
        try store.spool(.sample(id, failure, at: StoreFolder.now + time))
    }

    @Test("receipts of several processes are stored once and read in order")
    func order() throws {
        try spool("b")
        try folder.store(.app).spool(.sample("a"))
        try spool("b")
        try spool("a")
        try spool("b", .timedOut)
        #expect(try waiting() == ["b", "a", "b-timedOut"])
        #expect(try store.receiptCount() == 3)
    }

    @Test("numbers of removed receipts aren't used again")
    func numbers() throws {
        try spool("a")
        let first = try #require(try store.receipt(after: 0))
        try store.removeReceipt(first.id)
        #expect(try store.receipt(after: 0) == nil)
        try spool("a")
        #expect(try #require(try store.receipt(after: 0)).number > first.number)
    }

    @Test("over the limit receipts of failures are removed first, then the oldest")
    func limit() throws {
        for (id, failure) in [("1", nil), ("2", .timedOut), ("3", nil), ("4", .timedOut)] as [(String, FailureClass?)] {
            try spool(id, failure)
        }
        try spool("5")
        #expect(try waiting() == ["1", "3", "4-timedOut", "5"])
        try spool("6")
        #expect(try waiting() == ["1", "3", "5", "6"])
        // A new receipt of a failure is removed at once.
        try spool("7", .timedOut)
        #expect(try waiting() == ["1", "3", "5", "6"])
        try spool("8")
        #expect(try waiting() == ["3", "5", "6", "8"])
    }

    @Test("a receipt is removed after its lifetime", arguments: [(100, true), (101, false)] as [(Int64, Bool)])
    func lifetime(_ time: Int64, _ isLeft: Bool) throws {
        try spool("a")
        try spool("b", at: time)
        #expect(try waiting() == (isLeft ? ["a", "b"] : ["b"]))
        try store.tidyReceipts(at: StoreFolder.now + 2 * time)
        #expect(try waiting() == (isLeft ? ["b"] : []))
    }

    @Test("a receipt that can't be written is written with the next push")
    func unwritten() throws {
        let store = SharedStore(folder: folder.path + "/none/store", role: .extension)
        var report = DeliveryReport.sample(nil, pushID: "a")
        report.receipt = try .sample("a")
        #expect(throws: StoreError.self) { _ = try store.record(DeliveryRecord(report: report)) }
        #expect(try store.isWaiting(.sample("a")))
        expectCode(.unavailable, of: \StoreError.code) { try store.receiptCount() }
        try FileManager.default.createDirectory(atPath: folder.path + "/none", withIntermediateDirectories: true)
        report.receipt = nil
        _ = try store.record(DeliveryRecord(report: report))
        #expect(try store.receipt(after: 0)?.json == Receipt.sample("a").json)
        #expect(store.unwrittenReceipts.all.isEmpty)
    }

    @Test("of the receipts that can't be written a process keeps the last 100")
    func unwrittenLimit() throws {
        let receipts = UnwrittenReceipts()
        for number in 0...100 { receipts.add(try .sample("\(number)")) }
        #expect(receipts.all.map(\.pushID) == (1...100).map { "\($0)" })
    }
}
