import PushCryptPrimitives
import Testing

@Suite struct ScryptParametersTests {
    typealias Numbers = (n: Int, r: Int, p: Int)

    @Test("the standard parameters are N 2^17, r 8 and p 1, with 128 MiB")
    func standard() throws {
        #expect(try ScryptParameters(n: 131_072, r: 8, p: 1) == .standard)
        #expect(ScryptParameters.standard.memoryInBytes == 128 << 20)
    }

    static let allowed: [Numbers] = [
        (2, 1, 1), (1 << 15, 1, 16), (1 << 16, 2, 1), (1 << 20, 8, 16), (1 << 18, 32, 16), (2, 32, 16),
    ]

    @Test("parameters at the limits are accepted", arguments: allowed) func atTheLimits(_ numbers: Numbers) throws {
        let parameters = try ScryptParameters(n: numbers.n, r: numbers.r, p: numbers.p)
        #expect((parameters.n, parameters.r, parameters.p) == numbers)
        #expect(parameters.memoryInBytes == 128 * numbers.n * numbers.r)
        #expect(parameters.memoryInBytes <= 1 << 30)
    }

    /// Not powers of two above 1, or too large.
    static let refusedN = [0, 1, -1, -16, 3, 16_383, 16_385, 1 << 21, 1 << 62, Int.min, Int.max]
    static let refusedR = [0, -1, 33, Int.min, Int.max]
    static let refusedP = [0, -1, 17, Int.min, Int.max]
    /// More than 1 GiB; or N is not less than 2^(16 * r).
    static let refusedTogether: [Numbers] = [
        (1 << 20, 9, 1), (1 << 19, 17, 1), (1 << 20, 32, 16), (1 << 16, 1, 1), (1 << 20, 1, 1),
    ]
    static let refused = refusedN.map { ($0, 8, 1) } + refusedR.map { (16, $0, 1) } + refusedP.map { (16, 8, $0) }

    @Test("parameters outside the limits are refused with invalidParameters", arguments: refused + refusedTogether)
    func outsideTheLimits(_ numbers: Numbers) throws {
        let code = try cryptoErrorCode { try ScryptParameters(n: numbers.n, r: numbers.r, p: numbers.p) }
        #expect(code == .invalidParameters)
    }
}
