import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// The file with a blob's reference: the JSON object that a message will contain.
///
/// ```
/// {["url": "https://..."], "key", "size", "sha256", ["type": "image/png"], ["id": "photo"]}
/// ```
/// A reference with a type refers to an attachment, a reference without one to a payload.
struct ReferenceFile {
    let blob: BlobReference
    let url: String?
    let type: String?
    let id: String?

    func write(to file: NewFile) throws {
        var json = Array("{".utf8)
        // Enough for every reference: an array that grows leaves copies of the key in freed memory.
        json.reserveCapacity(4_096)
        defer { wipe(&json) }
        if let url { json += #""url":"\#(url)","#.utf8 }
        blob.appendMembers(to: &json)
        if let type { json += #","type":"\#(type)""#.utf8 }
        if let id { json += #","id":"\#(id)""#.utf8 }
        json += "}\n".utf8
        try file.append(json)
        file.markWhole()
        try file.publish()
    }
}

extension ReferenceFile {
    init(_ path: String) throws {
        var bytes = try FileSystem.readFile(path)
        defer { wipe(&bytes) }
        do { try self.init(bytes) } catch { throw Failure(.dataError, "\(path) is not a reference from blob seal") }
    }

    private struct Malformed: Error {}

    private init(_ bytes: [UInt8]) throws {
        let root = try JSONText(bytes).root
        let strings = try ["url", "type", "id"].map { name -> String? in
            guard let value = root[name] else { return nil }
            guard let string = value.string else { throw Malformed() }
            return string
        }
        let type = strings[1]
        guard let blob = BlobReference(type == nil ? .payload : .attachment, root) else { throw Malformed() }
        self.init(blob: blob, url: strings[0], type: type, id: strings[2])
    }

    fileprivate func requireURL(_ path: String) throws -> String {
        guard let url else { throw Failure(.dataError, "\(path) has no url; add it with jq -c '.url = \"https://…\"'") }
        return url
    }
}

extension AttachmentReference {
    init(file path: String) throws {
        let file = try ReferenceFile(path)
        guard let type = file.type else {
            throw Failure(.dataError, "\(path) is the reference of a payload; use --offload")
        }
        let url = try file.requireURL(path)
        do {
            try self.init(url: url, blob: file.blob, type: type, id: file.id)
        } catch {
            throw Failure(.dataError, "\(path): \(error.reason)")
        }
    }
}

extension OffloadReference {
    init(file path: String) throws {
        let file = try ReferenceFile(path)
        guard file.type == nil else {
            throw Failure(.dataError, "\(path) is the reference of an attachment; use --attach")
        }
        let url = try file.requireURL(path)
        do { try self.init(url: url, blob: file.blob) } catch { throw Failure(.dataError, "\(path): \(error.reason)") }
    }
}
