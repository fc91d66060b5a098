import Metrics
import PushCryptSender

/// Reports each seal to swift-metrics: its duration, its size, and why it failed. No label contains anything of a payload, a key or
/// a token.
struct SealingTelemetry: Sendable {
    private let metrics: any MetricsFactory
    private let duration: Metrics.Timer
    private let size: Recorder

    init(_ metrics: any MetricsFactory) {
        self.metrics = metrics
        duration = Metrics.Timer(
            label: "push_seal_duration_seconds", preferredDisplayUnit: .seconds, factory: metrics)
        size = Recorder(label: "push_sealed_bytes", factory: metrics)
    }

    /// The observer of a `Sealer`.
    func observe(_ seal: SealObservation) {
        duration.recordNanoseconds(seal.duration.nanoseconds)
        if let count = seal.byteCount { size.record(count) }
        if let code = seal.refusal {
            Counter(label: "push_seal_failures_total", dimensions: [("code", code.description)], factory: metrics)
                .increment()
        }
    }
}

extension Duration {
    /// The whole nanoseconds; `Int64.max` for more than 292 years.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let product = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return product.overflow ? .max : product.partialValue + attoseconds / 1_000_000_000
    }
}
