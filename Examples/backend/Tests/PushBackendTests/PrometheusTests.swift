import CoreMetrics
import Testing

@testable import PushBackend

@Suite("metrics as text") struct PrometheusTests {
    @Test("counters, gauges and histograms have Prometheus' form")
    func text() {
        let metrics = PrometheusMetrics()
        metrics.makeCounter(label: "a.b", dimensions: [("r", "x\"\n")]).increment(by: 2)
        metrics.makeMeter(label: "depth", dimensions: []).set(Int64(3))
        metrics.makeTimer(label: "t", dimensions: []).recordNanoseconds(2_000_000)
        let lines = metrics.text.split(separator: "\n")
        #expect(lines.contains(#"a_b{r="x\"\n"} 2.0"#))
        #expect(lines.contains("# TYPE depth gauge") && lines.contains("depth 3.0"))
        #expect(lines.contains(#"t_bucket{le="0.001"} 0"#) && lines.contains(#"t_bucket{le="0.005"} 1"#))
        #expect(lines.contains(#"t_bucket{le="+Inf"} 1"#) && lines.contains("t_count 1"))
    }

    @Test("two handles of one name and label count together")
    func shared() {
        let metrics = PrometheusMetrics()
        for _ in 0..<2 { metrics.makeCounter(label: "c", dimensions: [("k", "v")]).increment(by: 1) }
        #expect(metrics.text.contains(#"c{k="v"} 2.0"#))
    }
}
