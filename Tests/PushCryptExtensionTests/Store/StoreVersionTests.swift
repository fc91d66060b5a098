import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Stores that earlier versions of this library wrote.
@Suite struct StoreVersionTests {
    /// A process of version 1 claimed 15 messages, marked ten of them as seen, counted, and spooled receipts. It was killed
    /// before it counted the last one. Another process claimed the messages 0 and 1.
    @Test("the messages, counters and receipts of a store of version 1 are kept")
    func version1() throws {
        let folder = try StoreFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: Vectors.own("Store/version-1.sqlite"), to: folder.file)
        let store = folder.store()
        let statistics = try store.statistics()
        #expect(statistics.opened?.count == 11)
        #expect(statistics.failures.mapValues(\.count) == [.undecryptable: 3])
        #expect(statistics.rebuildCount == 0)
        #expect(try store.receiptCount() == 14)
        #expect(try store.replayState().latest == StoreFolder.now.seconds + 14)
        for number in 0..<15 {
            let issuedAt = StoreFolder.now + Int64(number)
            // The claims of messages that weren't seen have lapsed.
            let isGranted = try store.claim("old-\(number)", issuedAt: issuedAt, at: StoreFolder.now + 600)
            #expect(isGranted == (number % 3 == 0), "old-\(number)")
        }
        #expect(try folder.integrity() == ["ok"])
    }
}
