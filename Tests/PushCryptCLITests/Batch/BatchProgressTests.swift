import Testing

@testable import pushcrypt

@Suite("the progress of a batch")
struct BatchProgressTests {
    @Test(
        "in words",
        arguments: [
            (1_234_567, 453, 1_000, 4, "████▌       45%  1,234,567 lines  308,641/s  4s left"),
            (0, 0, 1_000, 1, "             0%  0 lines  0/s  0s left"),
            (10, 1_000, 1_000, 2, "██████████ 100%  10 lines  5/s  0s left"),
            (10, 2_000, 1_000, 2, "██████████ 100%  10 lines  5/s  0s left"),
            (1, 1, 1_000_000, 1, "▏            0%  1 lines  1/s  11d left"),
            (500, 99, nil, 2, "500 lines  250/s"), (500, 99, 0, 2, "500 lines  250/s"),
        ] as [(Int, Int, Int?, Int, String)])
    func words(_ lines: Int, _ position: Int, _ byteCount: Int?, _ seconds: Int, _ expected: String) {
        let words = BatchProgress.words(lines, position: position, of: byteCount, after: .seconds(seconds))
        #expect(words == expected)
    }
}
