import PushCryptCore
import PushCryptPrimitives

/// SHA-256 of a file's first bytes: of some of them, to see at once that another file was put in their place, and of all.
enum FileDigest {
    private static let blockByteCount = 4_096
    private static let blockCount: Int64 = 16

    /// Of blocks at even distances, the first and the last among them.
    static func probe(_ file: DirectoryFile, byteCount: Int64) throws -> String {
        let last = max(byteCount - Int64(blockByteCount), 0)
        let hash = DefaultBackend.shared.sha256()
        var block = [UInt8](repeating: 0, count: blockByteCount)
        defer { wipe(&block) }
        for number in 0..<blockCount {
            let offset = last / (blockCount - 1) * number + (number == blockCount - 1 ? last % (blockCount - 1) : 0)
            let count = try file.read(into: &block, at: offset)
            let piece = Array(block.prefix(min(count, Int(byteCount - offset))))
            hash.update(piece.bytes)
        }
        return Base64URL.encode(hash.finalize())
    }

    /// - Parameter also: another hash that is to see the bytes.
    static func whole(
        _ file: DirectoryFile, byteCount: Int64, also: any IncrementalSHA256
    ) throws -> String {
        let hash = DefaultBackend.shared.sha256()
        var chunk = [UInt8](repeating: 0, count: 1 << 18)
        defer { wipe(&chunk) }
        var offset: Int64 = 0
        while offset < byteCount {
            let count = try min(file.read(into: &chunk, at: offset), Int(min(byteCount - offset, 1 << 18)))
            guard count > 0 else { break }
            let piece = Array(chunk.prefix(count))
            hash.update(piece.bytes)
            also.update(piece.bytes)
            offset += Int64(count)
        }
        return Base64URL.encode(hash.finalize())
    }
}
