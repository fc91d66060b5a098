import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// The range of time in which all states stay the same.
@Suite("KeyTimeline.span") struct KeyTimelineSpanTests {
    @Test("all states are the same at every time of a span", arguments: 0..<LongTests.value(60, short: 20))
    func everySecond(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let lifecycles = (0..<3).map { _ -> KeyLifecycle in
            func moment() -> Int64? {
                Int.random(in: 0..<3, using: &random) == 0 ? nil : .random(in: 0..<60, using: &random)
            }
            return .at(moment(), retires: moment(), expires: moment(), revoked: moment())
        }
        let updatedAt = Bool.random(using: &random) ? Int64.random(in: 0..<60, using: &random) : nil
        let timeline = try TestKeysets.keyset(lifecycles, updatedAt: updatedAt).timeline
        func states(_ time: Int64) -> [KeyState?] {
            timeline.keys.map { timeline.state(of: $0.kid, at: UnixTime(time)) }
        }
        for time in Int64(-5)...65 {
            let span = timeline.span(around: UnixTime(time))
            #expect(span.contains(UnixTime(time)))
            for other in max(span.lowerBound.seconds, -5)..<min(span.upperBound.seconds, 65) {
                #expect(states(other) == states(time), "\(time) and \(other)")
                #expect(timeline.primary(at: UnixTime(other)) == timeline.primary(at: UnixTime(time)))
            }
        }
    }

    @Test("a span ends when the next key begins to seal")
    func endsWhereTheNextKeyBegins() throws {
        let timeline = try TestKeysets.keyset([.at(10, retires: 50), .at(50)], updatedAt: 20).timeline
        #expect(timeline.span(around: UnixTime(30)) == UnixTime(.min)..<UnixTime(50))
        #expect(timeline.span(around: UnixTime(49)).upperBound == UnixTime(50))
        #expect(timeline.span(around: UnixTime(50)) == UnixTime(50)..<UnixTime(.max))
    }

    @Test("a time before the last write has the span of the last write")
    func beginsWithTheLastWrite() throws {
        let timeline = try TestKeysets.keyset([.at(10, retires: 50), .at(50)], updatedAt: 60).timeline
        #expect(timeline.span(around: UnixTime(5)) == UnixTime(.min)..<UnixTime(.max))
        let unwritten = try TestKeysets.keyset([.at(10)]).timeline
        #expect(unwritten.span(around: UnixTime(5)) == UnixTime(.min)..<UnixTime(10))
        #expect(unwritten.span(around: UnixTime(10)) == UnixTime(10)..<UnixTime(.max))
    }
}
