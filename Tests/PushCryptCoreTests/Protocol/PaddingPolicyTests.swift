import Testing

@testable import PushCryptCore

@Suite struct PaddingPolicyTests {
    struct Case: Sendable, CustomStringConvertible {
        let policy: PaddingPolicy
        let count: Int
        let capacity: Int
        let padded: Int

        init(_ policy: PaddingPolicy, _ count: Int, _ capacity: Int, _ padded: Int) {
            (self.policy, self.count, self.capacity, self.padded) = (policy, count, capacity, padded)
        }

        var description: String { "\(policy.kind) of \(count) in \(capacity)" }
    }

    @Test(
        "a message is padded to the length of its policy",
        arguments: [
            Case(.multiple(of: 128), 0, 3_000, 0), Case(.multiple(of: 128), 1, 3_000, 128),
            Case(.multiple(of: 128), 127, 3_000, 128), Case(.multiple(of: 128), 128, 3_000, 128),
            Case(.multiple(of: 128), 129, 3_000, 256), Case(.multiple(of: 7), 50, 3_000, 56),
            Case(.multiple(of: 1), 50, 3_000, 50),
            // The limit is nearer than the next multiple.
            Case(.multiple(of: 128), 129, 255, 255), Case(.multiple(of: 128), 129, 256, 256),
            Case(.multiple(of: 128), 129, 257, 256), Case(.multiple(of: 128), 129, 129, 129),
            Case(.multiple(of: 4_096), 1, 3_000, 3_000), Case(.multiple(of: .max), 1, 3_000, 3_000),
            Case(.multiple(of: .max), 0, 3_000, 0), Case(.multiple(of: .max / 2 + 1), .max - 1, .max, .max),
            Case(.multiple(of: .max - 1), .max, .max, .max), Case(.multiple(of: 2), .max, .max, .max),
            // No multiple at all.
            Case(.multiple(of: 0), 50, 3_000, 50), Case(.multiple(of: -128), 50, 3_000, 50),
            Case(.multiple(of: .min), 50, 3_000, 50),
            Case(.limit, 0, 3_000, 3_000), Case(.limit, 2_999, 3_000, 3_000), Case(.limit, 3_000, 3_000, 3_000),
            Case(.none, 0, 3_000, 0), Case(.none, 2_999, 3_000, 2_999), Case(.none, 3_000, 3_000, 3_000),
        ])
    func padded(testCase: Case) {
        #expect(testCase.policy.paddedCount(testCase.count, capacity: testCase.capacity) == testCase.padded)
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
