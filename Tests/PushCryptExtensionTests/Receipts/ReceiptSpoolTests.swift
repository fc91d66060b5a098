import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct ReceiptSpoolTests {
    private let folder: StoreFolder
    private let store: SharedStore

    init() throws {
        folder = try StoreFolder()
        store = folder.store {
            $0.receiptLimit = 4
            $0.receiptLifetimeInSeconds = 100
        }
    }

    /// The ids of the stored receipts, in order.
    private func waiting() throws -> [String] {
        var (ids, number) = ([String](), Int64(0))
        while let receipt = try store.receipt(after: number) {
            ids.append(String(receipt.json.text.dropFirst(#"{"id":""#.count).prefix { $0 != "\"" }))
            number = receipt.number
        }
        return ids
    }

    private func spool(_ id: String, _ failure: FailureClass? = nil, at time: Int64 = 0) throws -> Int64? {
        try store.spool(Receipt(.sample(failure, id, at: StoreFolder.now + time)))
    }

    @Test("receipts of several processes are stored once and read in order")
    func order() throws {
        #expect(try spool("b") != nil)
        #expect(try folder.store(.app).spool(Receipt(.sample(nil, "a"))) != nil)
        #expect(try spool("b") == nil)
        #expect(try spool("a") == nil)
        #expect(try spool("b", .timedOut) != nil)
        #expect(try waiting() == ["b", "a", "b-timedOut"])
        #expect(try store.receiptCount() == 3)
    }

    @Test("numbers of removed receipts aren't used again")
    func numbers() throws {
        let first = try #require(try spool("a"))
        try store.removeReceipt(first)
        #expect(try store.receipt(first) == nil)
        #expect(try #require(try spool("a")) > first)
    }

    @Test("over the limit receipts of failures are removed first, then the oldest")
    func limit() throws {
        for (id, failure) in [("1", nil), ("2", .timedOut), ("3", nil), ("4", .timedOut)] as [(String, FailureClass?)] {
            _ = try spool(id, failure)
        }
        _ = try spool("5")
        #expect(try waiting() == ["1", "3", "4-timedOut", "5"])
        _ = try spool("6")
        #expect(try waiting() == ["1", "3", "5", "6"])
        // A new receipt of a failure is removed at once.
        let failed = try #require(try spool("7", .timedOut))
        #expect(try store.receipt(failed) == nil)
        _ = try spool("8")
        #expect(try waiting() == ["3", "5", "6", "8"])
    }

    @Test("a receipt is removed after its lifetime", arguments: [(100, true), (101, false)] as [(Int64, Bool)])
    func lifetime(_ time: Int64, _ isLeft: Bool) throws {
        _ = try spool("a")
        _ = try spool("b", at: time)
        #expect(try waiting() == (isLeft ? ["a", "b"] : ["b"]))
        try store.removeOldReceipts(at: StoreFolder.now + 2 * time)
        #expect(try waiting() == (isLeft ? ["b"] : []))
    }
}
