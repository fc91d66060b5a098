public import CoreMetrics
import NIOConcurrencyHelpers

/// Keeps the process's metrics in memory and writes them as Prometheus' text format, version 0.0.4.
///
/// Counters become counters, meters gauges, and timers and recorders histograms; timers are in seconds.
public final class PrometheusMetrics: MetricsFactory {
    /// The upper bounds of the buckets of timers, in seconds.
    private static let timeBounds = [0.000_1, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15]
    /// The upper bounds of the buckets of recorders, which are sizes here.
    private static let sizeBounds = [256, 512, 1_024, 2_048, 3_072, 4_096.0]

    struct Key: Hashable, Comparable {
        let name: String
        /// `{a="b"}`, or empty.
        let labels: String

        init(_ label: String, _ dimensions: [(String, String)]) {
            name = Self.valid(label)
            let parts = dimensions.sorted { $0.0 < $1.0 }.map { #"\#(Self.valid($0.0))="\#(Self.escaped($0.1))""# }
            labels = parts.joined(separator: ",")
        }

        static func < (left: Key, right: Key) -> Bool { (left.name, left.labels) < (right.name, right.labels) }

        /// `[a-zA-Z_][a-zA-Z0-9_]*`
        private static func valid(_ text: String) -> String {
            String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") ? $0 : "_" })
        }

        private static func escaped(_ text: String) -> String {
            text.reduce(into: "") { result, character in
                switch character {
                case "\\": result += #"\\"#
                case "\"": result += #"\""#
                case "\n": result += #"\n"#
                default: result.append(character)
                }
            }
        }
    }

    enum Kind: String {
        case counter, gauge, histogram
    }

    private let series = NIOLockedValueBox<[Key: Series]>([:])

    /// Creates an empty registry. Pass it to `MetricsSystem.bootstrap`.
    public init() {}

    /// All series as text.
    public var text: String {
        var text = ""
        var name: String?
        for (key, series) in series.withLockedValue({ Array($0) }).sorted(by: { $0.key < $1.key }) {
            if key.name != name { text += "# TYPE \(key.name) \(series.kind.rawValue)\n" }
            name = key.name
            series.write(key, to: &text)
        }
        return text
    }

    private func handler(_ label: String, _ dimensions: [(String, String)], _ kind: Kind, _ bounds: [Double] = [])
        -> Series
    {
        series.withLockedValue { all in
            let key = Key(label, dimensions)
            if let known = all[key] { return known }
            let made = Series(kind, bounds)
            all[key] = made
            return made
        }
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        handler(label, dimensions, .counter)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { handler(label, dimensions, .counter) }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        handler(label, dimensions, .gauge)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? handler(label, dimensions, .histogram, Self.sizeBounds) : handler(label, dimensions, .gauge)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        handler(label, dimensions, .histogram, Self.timeBounds)
    }

    // A series outlives its handle, so that no count is lost between two scrapes.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}
}

/// The values of one name and its labels.
private final class Series: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    private struct Values {
        var value = 0.0
        var count: Int64 = 0
        var buckets: [Int64]
    }

    let kind: PrometheusMetrics.Kind
    private let bounds: [Double]
    private let values: NIOLockedValueBox<Values>

    init(_ kind: PrometheusMetrics.Kind, _ bounds: [Double]) {
        self.kind = kind
        self.bounds = bounds
        values = NIOLockedValueBox(Values(buckets: Array(repeating: 0, count: bounds.count)))
    }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { values.withLockedValue { $0.value = value } }
    func reset() { set(0.0) }
    func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1_000_000_000) }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { kind == .gauge ? set(value) : observe(value) }

    private func add(_ amount: Double) { values.withLockedValue { $0.value += amount } }

    private func observe(_ value: Double) {
        values.withLockedValue { values in
            values.value += value
            values.count += 1
            if let index = bounds.firstIndex(where: { value <= $0 }) { values.buckets[index] += 1 }
        }
    }

    func write(_ key: PrometheusMetrics.Key, to text: inout String) {
        let values = values.withLockedValue { $0 }
        let labels = key.labels.isEmpty ? "" : "{\(key.labels)}"
        guard kind == .histogram else {
            text += "\(key.name)\(labels) \(values.value)\n"
            return
        }
        let prefix = key.labels.isEmpty ? "" : "\(key.labels),"
        var total: Int64 = 0
        for (bound, count) in zip(bounds, values.buckets) {
            total += count
            text += "\(key.name)_bucket{\(prefix)le=\"\(bound)\"} \(total)\n"
        }
        text += "\(key.name)_bucket{\(prefix)le=\"+Inf\"} \(values.count)\n"
        text += "\(key.name)_sum\(labels) \(values.value)\n\(key.name)_count\(labels) \(values.count)\n"
    }
}
