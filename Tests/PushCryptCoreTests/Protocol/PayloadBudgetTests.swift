import Testing

@testable import PushCryptCore

@Suite struct PayloadBudgetTests {
    /// Characters that base64 without padding needs, counted group by group.
    private static func characters(_ bytes: Int) -> Int {
        bytes / 3 * 4 + [0, 2, 3][bytes % 3]
    }

    @Test(
        "for every limit and overhead a message of the capacity fits and a longer one doesn't",
        arguments: [0, 1, 2, 3, 32, 48, 81, 96, 112, 145])
    func capacityIsExact(overhead: Int) {
        for limit in 300...1_100 {
            let budget = PayloadBudget(limitInBytes: limit, fixedByteCount: 250, overheadByteCount: overhead)
            let capacity = budget.messageCapacity
            guard capacity >= 0 else {
                #expect(250 + Self.characters(overhead) > limit)
                continue
            }
            #expect(budget.payloadByteCount(messageByteCount: capacity) <= limit)
            #expect(budget.payloadByteCount(messageByteCount: capacity + 1) > limit)
            for count in [0, capacity, capacity + 1, capacity + 2, capacity + 1_000] {
                let expected = 250 + Self.characters(count + overhead)
                #expect(budget.payloadByteCount(messageByteCount: count) == expected)
            }
        }
    }

    @Test("a message fits if and only if it isn't longer than the capacity")
    func everyMessageSize() {
        let budget = PayloadBudget(limitInBytes: 4_096, fixedByteCount: 200, overheadByteCount: 81)
        for count in 0...5_000 {
            let fits = budget.payloadByteCount(messageByteCount: count) <= 4_096
            #expect(fits == (count <= budget.messageCapacity))
        }
    }

    @Test(
        "a frame above the limit has a negative capacity",
        arguments: [(1, 250), (249, 250), (250, 250), (251, 250), (252, 250), (1, 5_000_000)])
    func noRoom(limit: Int, fixed: Int) {
        let budget = PayloadBudget(limitInBytes: limit, fixedByteCount: fixed, overheadByteCount: 32)
        #expect(budget.messageCapacity < 0)
        #expect(budget.payloadByteCount(messageByteCount: 0) == fixed + 43)
    }

    @Test("the limit of APNs is 4,096 bytes")
    func limitOfAPNs() {
        #expect(PayloadBudget.apnsLimitInBytes == 4_096)
    }
}
