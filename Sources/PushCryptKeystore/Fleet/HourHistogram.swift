/// Counts by length of time, in whole hours up to 30 days: exact for every question about a whole number of hours.
package struct HourHistogram: Hashable, Sendable {
    package static let hours = 720
    /// At index i what took more than i - 1 and at most i hours; at the end what took longer than all.
    private var counts = [Int](repeating: 0, count: hours + 2)

    mutating func add(_ count: Int, seconds: Int64) {
        counts[Int(min((seconds + 3_599) / 3_600, Int64(Self.hours) + 1))] += count
    }

    /// - Parameter hours: 0...720.
    package func count(within hours: Int) -> Int { counts[...hours].reduce(0, +) }

    /// - Parameter hours: 0...720.
    package func count(above hours: Int) -> Int { counts[(hours + 1)...].reduce(0, +) }

    static func += (left: inout Self, right: Self) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
    }
}
