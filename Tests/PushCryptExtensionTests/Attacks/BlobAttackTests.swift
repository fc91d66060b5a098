import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The attacker is the server of the blobs. It has the blobs and no reference, and returns what it wants. `HostileServerTests`
/// has a server that violates HTTP.
@Suite("Attacks on blobs") struct BlobAttackTests {
    /// A chunk's bytes in a blob, with its tag.
    private static let chunk = 65_536 + 16
    private static let headerByteCount = 4

    enum Attack: CaseIterable, Sendable {
        case swapChunks, repeatChunk, dropFirstChunk, dropMiddleChunk, dropLastChunk, lastByteCut, onlyHeader, empty
        case extended, appendedChunk, changedByte, changedHeader, blobOfAnotherPush, chunkOfAnotherBlob

        func apply(to blob: [UInt8], other: [UInt8]) -> [UInt8] {
            let header = Array(blob[..<headerByteCount])
            var chunks = BlobAttackTests.chunks(blob)
            switch self {
            case .swapChunks: chunks.swapAt(0, 1)
            case .repeatChunk: chunks[1] = chunks[0]
            case .dropFirstChunk: chunks.removeFirst()
            case .dropMiddleChunk: chunks.remove(at: 1)
            case .dropLastChunk: chunks.removeLast()
            case .lastByteCut: return blob.dropLast()
            case .onlyHeader: return header
            case .empty: return []
            case .extended: return blob + [0]
            case .appendedChunk: chunks.append(chunks[0])
            case .changedByte: chunks[1][7] ^= 1
            case .changedHeader: return [header[0] ^ 1] + blob.dropFirst()
            case .blobOfAnotherPush: return other
            case .chunkOfAnotherBlob: chunks[1] = BlobAttackTests.chunks(other)[1]
            }
            return header + chunks.flatMap { $0 }
        }
    }

    private static func chunks(_ blob: [UInt8]) -> [[UInt8]] {
        stride(from: headerByteCount, to: blob.count, by: chunk).map { Array(blob[$0..<min($0 + chunk, blob.count)]) }
    }

    private static func offloaded(_ letter: String) throws -> SealedBlob {
        try Sealer.offload(
            Array(#"{"aps":{"alert":"whole \#(letter)"},"x":"\#(String(repeating: letter, count: 180_000))"}"#.utf8))
    }

    @Test("a server changes an offloaded blob: attachmentFailed, the short sealed alert", arguments: Attack.allCases)
    func offload(attack: Attack) async throws {
        let blob = try Self.offloaded("a")
        let push = try TestPush.offloading(blob, key: "x25519")
        let body = attack.apply(to: blob.bytes, other: try Self.offloaded("b").bytes)
        #expect(body != blob.bytes)
        for (body, isWhole) in [(body, false), (blob.bytes, true)] {
            let phone = AttackedPhone(.init(key: "x25519", isSigned: false))
            let delivery = try await phone.show(push) { $0.offload = OffloadFetcher(transport: OneBody(bytes: body)) }
            #expect(delivery.failure == (isWhole ? nil : .attachmentFailed) && delivery.isRestored)
            #expect(delivery.content.body.literal == (isWhole ? "whole a" : "short"))
            #expect(delivery.stageFailures.map(\.stage) == (isWhole ? [] : ["offload"]))
        }
    }

    @Test("a server changes an attachment's blob: attachmentFailed, the text alone", arguments: Attack.allCases)
    func attachment(attack: Attack) async throws {
        let folder = try TemporaryFolder()
        let png = [UInt8](hex: "89504E470D0A1A0A0000000D49484452")
        let blobs = try [0, 1].map { seed in
            try SealedBlob(png + (0..<180_000).map { UInt8(truncatingIfNeeded: $0 * 31 + seed) }, for: .attachment)
        }
        let reference = try AttachmentReference(
            url: "https://example.com/a", blob: blobs[0].reference, type: "image/png", id: nil)
        let push = try TestPush(key: "x25519", json: AttackedPhone.secret, attachments: [reference]).sealed()
        let body = attack.apply(to: blobs[0].bytes, other: blobs[1].bytes)
        for (body, isWhole) in [(body, false), (blobs[0].bytes, true)] {
            let phone = AttackedPhone(.init(key: "x25519", isSigned: false))
            let delivery = try await phone.show(push) {
                $0.attachments = AttachmentStage(
                    configuration: .init(folder: folder.path + "/files"), transport: OneBody(bytes: body),
                    timer: ManualTimer())
            }
            #expect(delivery.failure == (isWhole ? nil : .attachmentFailed) && delivery.isRestored)
            #expect(delivery.content.title.literal == "Zoë")
            #expect(delivery.content.attachments.count == (isWhole ? 1 : 0))
            #expect(try folder.names(in: "files").count == (isWhole ? 1 : 0))
        }
    }
}
