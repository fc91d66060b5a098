import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct ArrayBytesTests {
    @Test("an array becomes a span and the same array again")
    func spanAndBack() {
        var generator = SplitMix64(seed: 90)
        for count in [0, 1, 31, 1000] {
            let original = generator.bytes(count)
            #expect(original.bytes.count == count)
            #expect(Array(original.bytes) == original)
            var appended: [UInt8] = [1, 2]
            appended.append(contentsOf: original.bytes)
            #expect(appended == [1, 2] + original)
        }
    }

    @Test("the span of a slice begins where the slice begins")
    func slices() {
        let original = [UInt8](0..<10)
        let middle = Array(original[3..<7])
        #expect(Array(middle.bytes) == [3, 4, 5, 6])
        #expect(Array(original.bytes.extracting(3..<7)) == [3, 4, 5, 6])
    }
}
