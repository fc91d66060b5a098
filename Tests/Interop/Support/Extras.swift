import Foundation
import PushCryptCore
import PushCryptPrimitives

/// The optional members of a message's header, for both implementations.
struct Extras: Codable, Equatable, Sendable {
    struct Reference: Codable, Equatable, Sendable {
        let url: String
        let key: String
        let size: Int64
        let sha256: String
        var type: String?
        var id: String?

        init(url: String, _ blob: BlobReference, type: String? = nil, id: String? = nil) {
            self.url = url
            key = String(decoding: Base64URL.encode(blob.key.bytes), as: UTF8.self)
            (size, sha256) = (blob.size, Base64URL.encode(blob.sha256))
            (self.type, self.id) = (type, id)
        }
    }

    var attachments: [Reference]?
    var offload: Reference?
    var test: Bool?
}

extension Extras {
    init(_ attachments: [AttachmentReference], _ offload: OffloadReference?, _ isSelfTest: Bool) {
        self.attachments =
            attachments.isEmpty
            ? nil : attachments.map { Reference(url: $0.url, $0.blob, type: $0.type, id: $0.id) }
        self.offload = offload.map { Reference(url: $0.url, $0.blob) }
        test = isSelfTest ? true : nil
    }
}
