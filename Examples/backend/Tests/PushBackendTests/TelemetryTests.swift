import APNsStandIn
import BackendTestSupport
import Foundation
import HTTPTypes
import InMemoryTracing
import Instrumentation
import Testing
import Tracing

@testable import PushBackend

@Suite("metrics and spans of pushes, over the network", .serialized) struct TelemetryTests {
    /// The tracer of the process, which can be chosen once. Other tests have spans too, in other traces.
    private static let tracer: InMemoryTracer = {
        let tracer = InMemoryTracer()
        InstrumentationSystem.bootstrap(tracer)
        return tracer
    }()

    /// A payload that fits into no push, and so wouldn't be accepted over HTTP.
    private static let tooLarge = #"{"aps":{"alert":"\#(String(repeating: "x", count: 4_000))"}}"#

    @Test("a seal and a push that is sent have a span each, with the size and the result; a refused seal has an error")
    func spans() async throws {
        let tracer = Self.tracer
        try await Sending.with { sending in
            let traceID = try await tracer.withSpan("test") { span in
                _ = try await sending.accept("Hello")
                _ = try await sending.attempt(try #require(try await sending.claim()))
                _ = try await sending.accept(payload: Self.tooLarge)
                _ = try await sending.attempt(try #require(try await sending.claim()))
                return span.context.inMemorySpanContext?.traceID
            }
            let spans = tracer.finishedSpans.filter { $0.traceID == traceID }
            let seals = spans.filter { $0.operationName == "seal" }
            #expect(seals.map(\.errors.count) == [0, 1])
            let count = try #require(sending.apns.accepted.first).payload.count
            #expect(seals.first?.attributes.get("push.bytes") == .int64(Int64(count)))
            let deliveries = spans.filter { $0.operationName == "deliver" }
            #expect(deliveries.map { $0.attributes.get("push.result") } == [.string("sent")])
        }
    }

    @Test("a scrape after a seal and a refusal has their counts, the size and APNs' answer")
    func metrics() async throws {
        try await Sending.with { sending in
            _ = try await sending.accept("Hello")
            _ = try await sending.attempt(try #require(try await sending.claim()))
            _ = try await sending.accept(payload: Self.tooLarge)
            _ = try await sending.attempt(try #require(try await sending.claim()))
            let api = try TestAPI(over: sending.test, metrics: sending.metrics)
            let lines = try await api.call(.get, "/metrics", by: .service).body.split(separator: "\n")
            for line in [
                "push_seal_duration_seconds_count 2", "push_sealed_bytes_count 1",
                #"push_seal_failures_total{code="tooLarge"} 1.0"#,
                #"push_attempts_total{environment="production",reason="",result="sent"} 1.0"#,
                #"push_attempts_total{environment="production",reason="tooLarge",result="failed"} 1.0"#,
                #"push_apns_duration_seconds_count{status="200"} 1"#, "push_queue_depth 0.0",
            ] { #expect(lines.contains(Substring(line)), "\(line)") }
        }
    }
}
