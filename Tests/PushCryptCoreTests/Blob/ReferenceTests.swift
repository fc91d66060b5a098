import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// The references that a sender writes and a recipient reads. `BlobVectorTests` has the grammar of each member.
@Suite struct ReferenceTests {
    private static let url = "https://cdn.example.com/a"

    private static func blob(_ purpose: BlobPurpose, size: Int64 = 5) throws -> BlobReference {
        let digest = [UInt8](repeating: 9, count: 32)
        return try #require(BlobReference(purpose, key: TestBlob.key, size: size, sha256: digest))
    }

    @Test("an attachment's reference is written as JSON and read again")
    func attachment() throws {
        let blob = try Self.blob(.attachment)
        for id in [nil, "photo"] {
            let attachment = try AttachmentReference(url: Self.url, blob: blob, type: "image/png", id: id)
            let json = attachment.json
            let key = "AwoRGB8mLTQ7QklQV15lbHN6gYiPlp2kq7K5wMfO1dw"
            let digest = "CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk"
            let tail = id.map { #","id":"\#($0)""# } ?? ""
            let expected =
                #"{"url":"\#(Self.url)","key":"\#(key)","size":5,"sha256":"\#(digest)","type":"image/png"\#(tail)}"#
            #expect(String(decoding: json, as: UTF8.self) == expected)
            #expect(try AttachmentReference(json: json) == attachment)
        }
    }

    @Test("an offload reference is written as JSON and read again")
    func offload() throws {
        let offload = try OffloadReference(url: Self.url, blob: Self.blob(.payload))
        #expect(try OffloadReference(json: offload.json) == offload)
        #expect(try JSONText(offload.json).root["type"] == nil)
        // An offload reference isn't an attachment's, and an attachment's is read with another purpose.
        let attachment = try AttachmentReference(url: Self.url, blob: Self.blob(.attachment), type: "image/png")
        #expect(throws: BlobError.self) { try AttachmentReference(json: offload.json) }
        #expect(try OffloadReference(json: attachment.json).blob != attachment.blob)
    }

    @Test(
        "a text that isn't a reference throws invalidReference",
        arguments: ["", "{}", "[]", "null", #"{"url":"https://a.b"}"#])
    func notJSON(text: String) {
        expectBlobError(.invalidReference) { try AttachmentReference(json: Array(text.utf8)) }
        expectBlobError(.invalidReference) { try OffloadReference(json: Array(text.utf8)) }
    }

    @Test(
        "a URL outside its grammar throws invalidReference, which names the part and doesn't quote the URL",
        arguments: [
            ("http://a.b", "URL"), ("https://a.b/ ", "URL"), ("https://a@b/", "URL"),
            (String(repeating: "a", count: 3_000), "URL"), ("https://a.example:99999/x", "port"),
            ("https://a.example:0/x", "port"), ("https://a.example:65536", "port"), ("https://a.example:/x", "port"),
            ("https://a..b/x", "host"), ("https://a.example./x", "host"), ("https://.a.example?x", "host"),
        ])
    func badURL(url: String, part: String) throws {
        let (picture, payload) = (try Self.blob(.attachment), try Self.blob(.payload))
        let error = expectBlobError(.invalidReference) {
            try AttachmentReference(url: url, blob: picture, type: "image/png")
        }
        #expect(error?.reason.contains("the \(part) is not ") == true)
        #expect(error?.reason.contains(url) == false)
        #expect(throws: BlobError.self) { try OffloadReference(url: url, blob: payload) }
    }

    @Test("a reference to a blob with another purpose throws invalidReference")
    func otherPurpose() throws {
        let (picture, payload) = (try Self.blob(.attachment), try Self.blob(.payload))
        expectBlobError(.invalidReference) { try AttachmentReference(url: Self.url, blob: payload, type: "image/png") }
        expectBlobError(.invalidReference) { try OffloadReference(url: Self.url, blob: picture) }
    }

    @Test("a header with all optional members is written and read again")
    func headerWithAll() throws {
        let attachments = try [nil, "b"].map { id in
            try AttachmentReference(url: Self.url, blob: Self.blob(.attachment), type: "image/png", id: id)
        }
        let offload = try OffloadReference(url: Self.url, blob: Self.blob(.payload))
        let header = MessageHeader(
            id: Array(0...15), issuedAt: UnixTime(1), expiresAt: UnixTime(2),
            extras: MessageExtras(attachments: attachments, offload: offload, isSelfTest: true))
        let text = try JSONText([UInt8(ascii: "{")] + header.rawMember + [UInt8(ascii: "}")])
        let names = text.root["pushcrypt"]?.members.map(\.name)
        #expect(names == ["id", "iat", "exp", "attachments", "offload", "test"])
        #expect(MessageHeader(text.root["pushcrypt"], proof: .signature) == header)
        #expect(header != MessageHeader(id: header.id, issuedAt: UnixTime(1), expiresAt: UnixTime(2)))
    }
}
