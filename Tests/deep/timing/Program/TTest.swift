import Glibc

/// Welch's t of two classes of inputs that are measured in random order. The slowest tenth of the measurements, in which the
/// system interrupted the process, is left out.
struct TTest {
    let t: Double
    /// In nanoseconds for each call.
    let means: (Double, Double)

    /// - Parameter body: makes a call with the first class of inputs for true. Its result is used, so that it isn't removed.
    init(_ count: Int, callsPerMeasurement: Int = 1, _ body: (Bool) -> Bool) {
        var times: (first: [UInt64], second: [UInt64]) = ([], [])
        var trues = 0
        for number in -1_000..<count {
            let isFirst = Bool.random()
            let start = Self.now
            for _ in 0..<callsPerMeasurement { trues += body(isFirst) ? 1 : 0 }
            let time = Self.now - start
            // The first measurements warm the caches.
            guard number >= 0 else { continue }
            if isFirst { times.first.append(time) } else { times.second.append(time) }
        }
        precondition(trues >= 0)
        let sorted = (times.first + times.second).sorted()
        let limit = sorted[sorted.count * 9 / 10]
        let (first, second) = (Moments(times.first, limit), Moments(times.second, limit))
        let deviation = (first.variance / first.count + second.variance / second.count).squareRoot()
        t = deviation == 0 ? 0 : (first.mean - second.mean) / deviation
        means = (first.mean / Double(callsPerMeasurement), second.mean / Double(callsPerMeasurement))
    }

    private struct Moments {
        let count, mean, variance: Double

        init(_ times: [UInt64], _ limit: UInt64) {
            let kept = times.lazy.filter { $0 <= limit }.map { Double($0) }
            let count = Double(max(kept.count, 2))
            let mean = kept.reduce(0, +) / count
            variance = kept.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / (count - 1)
            (self.count, self.mean) = (count, mean)
        }
    }

    private static var now: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
