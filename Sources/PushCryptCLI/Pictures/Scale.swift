/// Maps values to pixels.
struct Scale {
    let values: ClosedRange<Double>
    let start: Double
    let end: Double

    /// - Parameter values: of a length above 0.
    init(_ values: ClosedRange<Double>, from start: Double, to end: Double) {
        (self.values, self.start, self.end) = (values, start, end)
    }

    func callAsFunction(_ value: Double) -> Double {
        start + (value - values.lowerBound) / (values.upperBound - values.lowerBound) * (end - start)
    }

    /// The pixel of a value that may lie outside.
    func clamped(_ value: Double) -> Double {
        self(min(max(value, values.lowerBound), values.upperBound))
    }

    /// Round values from 0 on: multiples of 1, 2 or 5 times a power of ten, about `count` of them up to `limit`.
    static func ticks(upTo limit: Double, count: Int) -> [Double] {
        guard limit > 0 else { return [0] }
        let rough = limit / Double(count)
        var power = 1.0
        while power > rough { power /= 10 }
        while power * 10 <= rough { power *= 10 }
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999 } ?? 10 * power
        return (0...Int(limit / step * 1.000_001)).map { Double($0) * step }
    }
}

/// The unit that an axis of time is labelled in.
struct TimeUnit {
    let name: String
    let seconds: Double

    /// - Parameter seconds: the length of the whole axis.
    init(forSpan seconds: Double) {
        switch seconds {
        case ..<600: (name, self.seconds) = ("seconds", 1)
        case ..<10_800: (name, self.seconds) = ("minutes", 60)
        case ..<259_200: (name, self.seconds) = ("hours", 3_600)
        default: (name, self.seconds) = ("days", 86_400)
        }
    }
}
