import Foundation
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
        #expect(storeErrorCode { _ = try store.receiptCount() } == .unavailable)
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
