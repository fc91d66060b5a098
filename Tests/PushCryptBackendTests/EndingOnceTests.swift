import PushCryptPrimitives
import Testing

@Suite("State that ends once")
struct EndingOnceTests {
    @Test("Of a thousand concurrent callers of end, exactly one gets the state")
    func oneCallerGetsTheState() async {
        let state = EndingOnce("the only value")
        let received = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<1_000 { group.addTask { state.end() } }
            return await group.reduce(into: [String]()) { values, value in values += [value].compactMap(\.self) }
        }
        #expect(received == ["the only value"])
    }

    @Test("An update before the end changes the state, and one after the end reports false and isn't called")
    func updatesStopAtTheEnd() {
        let state = EndingOnce(1)
        #expect(state.update { $0 += 1 })
        #expect(state.current == 2)
        #expect(state.end() == 2)
        #expect(!state.update { _ in Issue.record("the update was called after the end") })
        #expect(state.current == nil)
        #expect(state.end() == nil)
    }
}
