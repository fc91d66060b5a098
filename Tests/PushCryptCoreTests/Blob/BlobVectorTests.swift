import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Blobs and headers of the Python reference.
@Suite struct BlobVectorTests {
    @Test(
        "a blob of the Python reference opens, and its plaintext seals to the same bytes",
        arguments: BlobVectors.shared.blobs, Backends.all)
    func sealed(vector: BlobVectors.Blob, named: NamedBackend) throws {
        let reference = try vector.reference()
        let plaintext = TestBlob.plaintext(Int(vector.size))
        let sealer = BlobSealer(reference.purpose, key: reference.key, backend: named.backend)
        var blob: [UInt8] = []
        try sealer.seal(plaintext, appendingTo: &blob)
        #expect(try sealer.finish(appendingTo: &blob) == reference)
        if let text = vector.blob { #expect(Base64URL.encode(blob) == text) }
        #expect(try TestBlob.opened(blob, reference, named.backend) == plaintext)
    }

    @Test(
        "a blob that the Python reference marks as wrong is refused with its class",
        arguments: BlobVectors.shared.refused, Backends.all)
    func refused(vector: BlobVectors.Blob, named: NamedBackend) throws {
        let (reference, blob) = (try vector.reference(), try vector.bytes())
        for pieces in [TestBlob.Pieces.whole, .of(1), .of(7)] {
            #expect(throws: FailureClass.undecryptable, "\(pieces)") {
                try TestBlob.opened(blob, reference, pieces: pieces, named.backend)
            }
        }
        #expect(throws: FailureClass.undecryptable) {
            try BlobOpener.plaintext(of: blob, reference, backend: named.backend)
        }
    }

    @Test("a header of the Python reference is accepted or refused as marked", arguments: BlobVectors.shared.headers)
    func header(vector: BlobVectors.Header) throws {
        let header = MessageHeader(try JSONText(Array(vector.header.utf8)).root, proof: .signature)
        #expect((header != nil) == vector.valid)
        guard let header else { return }
        // The written header is read as the same header.
        let member = try JSONText(Array("{\(String(decoding: header.rawMember, as: UTF8.self))}".utf8))
        #expect(MessageHeader(member.root["pushcrypt"], proof: .signature) == header)
    }

    @Test(
        "an offloaded payload is read and written up to its limits, and refused above them",
        arguments: BlobVectors.shared.payloads)
    func payload(vector: BlobVectors.Payload) throws {
        let plaintext = Array(vector.text.utf8)
        let opened = Result { () throws(FailureClass) in try OffloadedPayload.innerPayload(plaintext: plaintext) }
        if vector.valid {
            #expect(throws: Never.self) { try opened.get() }
        } else {
            #expect(throws: FailureClass.malformed) { try opened.get() }
        }
        let json = plaintext[...(plaintext.lastIndex { $0 != paddingByte } ?? 0)]
        guard json.count == plaintext.count else { return }
        let isWritten = (try? OffloadedPayload.plaintext(json: plaintext)) != nil
        #expect(isWritten == vector.valid)
    }

    @Test("the file has blobs, refused blobs and headers of every kind")
    func counts() {
        #expect(BlobVectors.shared.blobs.count == 16)
        #expect(BlobVectors.shared.refused.count > 25)
        #expect(BlobVectors.shared.headers.filter(\.valid).count > 20)
        #expect(BlobVectors.shared.headers.filter { !$0.valid }.count > 100)
        #expect(BlobVectors.shared.payloads.count == 8)
    }
}

/// Conformance/vectors/blobs-v1.json.
struct BlobVectors: Decodable {
    struct Blob: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let purpose: String
        let key: String
        let size: Int64
        let sha256: String
        let blob: String?

        var description: String { name }

        func reference() throws -> BlobReference {
            let purposes = [BlobPurpose.attachment, .payload]
            let bound = try #require(purposes.first { $0.description == self.purpose })
            let json = #"{"key":"\#(key)","size":\#(size),"sha256":"\#(sha256)"}"#
            return try #require(BlobReference(bound, JSONText(Array(json.utf8)).root))
        }

        func bytes() throws -> [UInt8] { try #require(blob.flatMap { Base64URL.decode(Array($0.utf8)[...]) }) }
    }

    struct Header: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let valid: Bool
        let header: String

        var description: String { name }
    }

    struct Payload: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let valid: Bool
        let start: String
        let repeated: String
        let count: Int
        let end: String

        var text: String { start + String(repeating: repeated, count: count) + end }
        var description: String { name }
    }

    let blobs: [Blob]
    let refused: [Blob]
    let headers: [Header]
    let payloads: [Payload]

    static let shared = try! Vectors.loadOwn("blobs-v1.json", as: BlobVectors.self)
}
