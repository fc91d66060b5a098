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

@Suite struct PaddingPolicyTests {
    @Test(
        "a message is padded to the length of its policy",
        arguments: [
            (.multiple(of: 128), 0, 3_000, 0), (.multiple(of: 128), 1, 3_000, 128),
            (.multiple(of: 128), 127, 3_000, 128), (.multiple(of: 128), 128, 3_000, 128),
            (.multiple(of: 128), 129, 3_000, 256), (.multiple(of: 7), 50, 3_000, 56),
            (.multiple(of: 1), 50, 3_000, 50),
            // The limit is nearer than the next multiple.
            (.multiple(of: 128), 129, 255, 255), (.multiple(of: 128), 129, 256, 256),
            (.multiple(of: 128), 129, 257, 256), (.multiple(of: 128), 129, 129, 129),
            (.multiple(of: 4_096), 1, 3_000, 3_000), (.multiple(of: .max), 1, 3_000, 3_000),
            (.multiple(of: .max), 0, 3_000, 0), (.multiple(of: .max / 2 + 1), .max - 1, .max, .max),
            (.multiple(of: .max - 1), .max, .max, .max), (.multiple(of: 2), .max, .max, .max),
            // No multiple at all.
            (.multiple(of: 0), 50, 3_000, 50), (.multiple(of: -128), 50, 3_000, 50),
            (.multiple(of: .min), 50, 3_000, 50),
            (.limit, 0, 3_000, 3_000), (.limit, 2_999, 3_000, 3_000), (.limit, 3_000, 3_000, 3_000),
            (.none, 0, 3_000, 0), (.none, 2_999, 3_000, 2_999), (.none, 3_000, 3_000, 3_000),
        ] as [(PaddingPolicy, Int, Int, Int)])
    func padded(policy: PaddingPolicy, count: Int, capacity: Int, padded: Int) {
        #expect(policy.paddedCount(count, capacity: capacity) == padded)
    }

    @Test(
        "the padded length is the least multiple, or the capacity if that is less",
        arguments: [1, 2, 3, 64, 100, 128, 1_000, 4_096])
    func everyLength(multiple: Int) {
        for capacity in [0, 1, 500, 1_024] {
            for count in 0...capacity {
                let padded = PaddingPolicy.multiple(of: multiple).paddedCount(count, capacity: capacity)
                #expect(padded >= count && padded <= capacity)
                #expect(padded == capacity || padded.isMultiple(of: multiple) && padded - count < multiple)
            }
        }
    }

    @Test("policies are equal if they have the same kind and multiple")
    func equality() {
        #expect(PaddingPolicy.multiple(of: 128) == .multiple(of: 128))
        #expect(PaddingPolicy.multiple(of: 0) == .multiple(of: 1))
        #expect(PaddingPolicy.multiple(of: 1) != .none)
        #expect(Set<PaddingPolicy>([.limit, .none, .multiple(of: 5), .limit]).count == 3)
    }
}
