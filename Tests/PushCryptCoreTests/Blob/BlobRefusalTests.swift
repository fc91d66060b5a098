import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Every change is refused as one class, also where the reference has the changed blob's own digest.
@Suite struct BlobRefusalTests {
    static let sizes = [0, 1, 20, 65_536, 65_537, 131_072, 150_000]

    private func expectRefused(
        _ blob: [UInt8], _ reference: BlobReference, _ comment: Comment, location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(TestBlob.failure(blob, reference) == .undecryptable, comment, sourceLocation: location)
        let own = try #require(try reference.changed(digestOf: blob))
        #expect(TestBlob.failure(blob, own) == .undecryptable, comment, sourceLocation: location)
        #expect(TestBlob.failure(blob, own, pieces: .of(40_000)) == .undecryptable, comment, sourceLocation: location)
    }

    @Test("a flip at the ends of magic, ciphertext or tag of any chunk is undecryptable", arguments: sizes)
    func flips(size: Int) throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(size))
        var places = [0, 1, 2, 3, blob.count - 1, blob.count - 17, blob.count / 2]
        for border in stride(from: 4, through: blob.count, by: TestBlob.chunk + TestBlob.tag) {
            places += [border - 17, border - 16, border - 1, border, border + 1]
        }
        for place in Set(places) where blob.indices.contains(place) {
            for bit in [UInt8(1), 0x80] {
                var changed = blob
                changed[place] ^= bit
                try expectRefused(changed, reference, "byte \(place)")
            }
        }
    }

    @Test("a flip of any bit of a small blob is undecryptable")
    func everyBitOfASmallOne() throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(5))
        for bit in 0..<blob.count * 8 {
            var changed = blob
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            try expectRefused(changed, reference, "bit \(bit)")
        }
    }

    @Test("a truncated blob is undecryptable", arguments: sizes)
    func truncations(size: Int) throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(size))
        var ends = [
            0, 1, 3, 4, 5, 19, blob.count - 1, blob.count - 15, blob.count - 16, blob.count - 17, blob.count / 2,
        ]
        for border in stride(from: 4, to: blob.count, by: TestBlob.chunk + TestBlob.tag) {
            ends += [border - 1, border, border + 1, border + 16, border + 1_000]
        }
        for end in Set(ends) where (0..<blob.count).contains(end) {
            try expectRefused(Array(blob[..<end]), reference, "\(end) bytes")
            // A reference of the shorter blob doesn't help: its last chunk wasn't sealed as the last.
            let chunks = end / (TestBlob.chunk + TestBlob.tag) + 1
            let implied = Int64(end - 4 - chunks * TestBlob.tag)
            guard let shorter = try reference.changed(size: implied, digestOf: Array(blob[..<end])) else { continue }
            #expect(TestBlob.failure(Array(blob[..<end]), shorter) == .undecryptable, "\(end) bytes")
        }
    }

    @Test("a blob with added bytes is undecryptable", arguments: sizes)
    func extensions(size: Int) throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(size))
        let lastChunk = Array(
            blob[(4 + (blob.count - 5) / (TestBlob.chunk + TestBlob.tag) * (TestBlob.chunk + TestBlob.tag))...])
        for tail in [[0], [UInt8](repeating: 0, count: 16), lastChunk, blob] {
            try expectRefused(blob + tail, reference, "\(tail.count) more")
        }
        try expectRefused([0] + blob, reference, "one before")
    }

    @Test("a blob with reordered, repeated or missing chunks is undecryptable")
    func reordered() throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(4 * TestBlob.chunk))
        let stride = TestBlob.chunk + TestBlob.tag
        let chunks = (0..<4).map { Array(blob[(4 + $0 * stride)..<(4 + ($0 + 1) * stride)]) }
        #expect(TestBlob.failure(Array(blob[..<4]) + chunks.joined(), reference) == nil)
        for order in [
            [1, 0, 2, 3], [0, 2, 1, 3], [3, 1, 2, 0], [0, 1, 3, 2], [0, 0, 2, 3], [0, 1, 1, 3], [3, 3, 3, 3],
        ] {
            let blob = Array(blob[..<4]) + order.flatMap { chunks[$0] }
            try expectRefused(blob, reference, "\(order)")
        }
        for order in [[1, 2, 3], [0, 1, 2], [0, 2, 3], [3], [0]] {
            let shorter = Array(blob[..<4]) + order.flatMap { chunks[$0] }
            let size = Int64(order.count * TestBlob.chunk)
            let own = try #require(try reference.changed(size: size, digestOf: shorter))
            #expect(TestBlob.failure(shorter, own) == .undecryptable, "\(order)")
        }
    }

    @Test("a chunk of another blob under the same key is undecryptable")
    func swapped() throws {
        let (first, reference) = try TestBlob.sealed(TestBlob.plaintext(100_000))
        let (second, other) = try TestBlob.sealed([UInt8](repeating: 1, count: 100_000))
        #expect(TestBlob.failure(second, reference) == .undecryptable)
        #expect(TestBlob.failure(second, other) == nil)
        let mixed = Array(first[..<(4 + TestBlob.chunk + 16)] + second[(4 + TestBlob.chunk + 16)...])
        #expect(TestBlob.failure(mixed, reference) == .undecryptable)
        let third = try SealedBlob(TestBlob.plaintext(100_000), for: .attachment, backend: TestBlob.openSSL)
        try expectRefused(third.bytes, reference, "another key")
        let grafted = Array(first[..<(4 + TestBlob.chunk + 16)] + third.bytes[(4 + TestBlob.chunk + 16)...])
        try expectRefused(grafted, reference, "the end of a blob under another key")
    }

    @Test("a blob under another key, size, digest or purpose is undecryptable", arguments: sizes)
    func otherReference(size: Int) throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(size))
        let (length, chunk) = (Int64(size), Int64(TestBlob.chunk))
        #expect(TestBlob.failure(blob, try #require(try reference.changed(.payload))) == .undecryptable)
        for other in [length + 1, length - 1, length + chunk, length - chunk, length + 16, length - 16, 0, 1 << 48]
        where other != length {
            guard let changed = try reference.changed(size: other) else { continue }
            #expect(TestBlob.failure(blob, changed) == .undecryptable, "\(other)")
        }
        for bit in [0, 7, 128, 255] {
            var digest = reference.sha256
            digest[bit / 8] ^= 1 << UInt8(bit % 8)
            let changed = BlobReference(.attachment, key: reference.key, size: length, sha256: digest)
            #expect(TestBlob.failure(blob, try #require(changed)) == .undecryptable)
        }
    }

    @Test("an endless stream is refused before its excess bytes are opened or hashed")
    func endlessStream() throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(100))
        let opener = BlobOpener(reference, backend: TestBlob.openSSL)
        var output: [UInt8] = []
        #expect(throws: FailureClass.undecryptable) {
            try opener.open(blob + [UInt8](repeating: 0, count: 1), appendingTo: &output)
        }
        #expect(output.isEmpty)
        #expect(throws: FailureClass.undecryptable) { try opener.open(blob, appendingTo: &output) }
        #expect(throws: FailureClass.undecryptable) { try opener.finish() }
        #expect(output.isEmpty)
    }

    @Test("an opener that has failed or finished refuses every further call")
    func nothingAfterTheEnd() throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(100))
        var (bad, output) = (blob, [UInt8]())
        bad[50] ^= 1
        let failed = BlobOpener(reference, backend: TestBlob.openSSL)
        #expect(throws: FailureClass.undecryptable) { try failed.open(bad, appendingTo: &output) }
        #expect(throws: FailureClass.undecryptable) { try failed.finish() }
        let whole = BlobOpener(reference, backend: TestBlob.openSSL)
        #expect(throws: FailureClass.undecryptable) {
            try whole.open(Array(blob.dropLast()), appendingTo: &output)
            try whole.finish()
        }
        let finished = BlobOpener(reference, backend: TestBlob.openSSL)
        try finished.open(blob, appendingTo: &output)
        try finished.finish()
        #expect(throws: FailureClass.undecryptable) { try finished.open([], appendingTo: &output) }
        #expect(throws: FailureClass.undecryptable) { try finished.finish() }
    }
}
