import Foundation
import PushCryptTestSupport

/// The Python reference, one process for all tests: a line of JSON asks, a line of JSON answers.
final class Reference: @unchecked Sendable {
    private static let shared = Result { try Reference() }

    private let lock = NSLock()
    private let errors: FileHandle
    private let process: RunningProcess
    private let requests: FileHandle
    private let answers: FileHandle
    private var unread = Data()
    private var isOver = false

    struct Over: Error, CustomStringConvertible {
        let description: String
    }

    /// With what it printed about its end.
    private var over: Over {
        let text = (try? errors.readToEnd()).flatMap(\.self) ?? Data()
        return Over(description: "the Python reference ended: \(String(decoding: text, as: UTF8.self))")
    }

    /// It ends with its standard input, which ends with the tests. Named pipes can be opened so that no child process of another
    /// test inherits them, even if it starts at the same moment: its copy would keep them open.
    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("python/interop.py")
        let folder = try TemporaryFolder()
        let (input, output, errorFile) = (folder.file("in").path, folder.file("out").path, folder.file("errors"))
        for path in [input, output] { try unsafe Self.check(mkfifo(path, 0o600)) }
        try Data().write(to: errorFile)
        // A pipe that is open for both opens for the child without waiting.
        requests = try Self.open(input, O_RDWR)
        let both = try Self.open(output, O_RDWR)
        process = try Python.process([script.path], stdin: input, stdout: output, stderr: errorFile.path).start()
        answers = try Self.open(output, O_RDONLY)
        errors = try FileHandle(forReadingFrom: errorFile)
        try both.close()
    }

    private static func open(_ path: String, _ mode: Int32) throws -> FileHandle {
        FileHandle(fileDescriptor: try check(openFile(path, mode | O_CLOEXEC)), closeOnDealloc: true)
    }

    @discardableResult private static func check(_ result: Int32) throws -> Int32 {
        guard result >= 0 else { throw CocoaError(.fileReadUnknown) }
        return result
    }

    static func ask(_ request: some Encodable) throws -> Answer { try shared.get().ask(request) }

    private func ask(_ request: some Encodable) throws -> Answer {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.keyEncodingStrategy = .convertToSnakeCase
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let line = try encoder.encode(request) + [UInt8(ascii: "\n")]
        return try lock.withLock {
            guard !isOver else { throw over }
            try requests.write(contentsOf: line)
            return try decoder.decode(Answer.self, from: readLine())
        }
    }

    private func readLine() throws -> Data {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return unread[..<end]
            }
            let more = answers.availableData
            isOver = more.isEmpty
            guard !isOver else { throw over }
            unread += more
        }
    }
}

/// open(2), whose name the method hides.
private func openFile(_ path: String, _ mode: Int32) -> Int32 { unsafe open(path, mode) }

/// The members of all operations' answers.
struct Answer: Decodable {
    let error: String?
    let payload: String?
    let inner: String?
    let id: String?
    let iat: Int64?
    let exp: Int64?
    let signedBy: String?
    let kid: String?
    let key: [String: String]?
    let `private`: [String: String]?
    let `public`: [String: String]?
    let keys: [[String: String]]?
    let seq: Int64?
    let head: String?
    let text: String?
    let data: Data?
    let reference: BlobMembers?
    let extras: Extras?
    let state: SetState?

    /// What a device remembers of a signed sender set that it accepted.
    struct SetState: Codable, Equatable {
        let epoch: Int64
        let seq: Int64
        let digest: String
        let issuedAt: String
        let revoked: [String]
    }

    /// The members of a reference that the blob determines.
    struct BlobMembers: Decodable {
        let key: String
        let size: Int64
        let sha256: String
    }
}

/// The operations' requests; absent members are left out.
enum Request {
    struct Seal: Encodable {
        let op = "seal"
        let to: [String: String]
        var device: String?
        let topic: String
        let inner: String
        let placeholder: [String: String]
        let at: Int64
        var expires: Int64?
        var pad = Padding.multiple(128)
        var limit = 4_096
        var expose: [String] = []
        var signWith: [String: String]?
        var extras: Extras?
    }

    struct Open: Encodable {
        let op = "open"
        let keys: [[String: String]]
        var device: String?
        let topic: String
        let payloadB64: Data
        let at: Int64
        var trust: [[String: String]]?
    }

    struct Pending: Encodable {
        let op = "pending"
        let text: String
    }

    struct Carried: Encodable {
        let op = "carrier"
        let carrier: String
        let keys: [[String: String]]
        let topic: String
        let payloadB64: Data
        let headers: [String: String]
        let at: Int64
    }

    struct Key: Encodable {
        let op: String
        let key: [String: String]
        var device: String?
    }

    struct Generate: Encodable {
        let op = "generate"
        let kind: String
        let psk: Bool
    }

    struct OpenKeyset: Encodable {
        let op = "open_keyset"
        let text: String
        var passphrase: String?
    }

    struct SealBlob: Encodable {
        let op = "seal_blob"
        let purpose: String
        let data: Data
        let key: String
    }

    struct OpenBlob: Encodable {
        let op = "open_blob"
        let purpose: String
        let data: Data
        let reference: Extras.Reference
    }

    struct AcceptSet: Encodable {
        let op = "accept_set"
        let pins: String
        let topic: String
        let document: String
        var stored: Answer.SetState?
        let now: String
    }

    struct SignSet: Encodable {
        let op = "sign_set"
        let keyset: String
        let set: String
        let topics: [String]
        let epoch: Int64
        let seq: Int64
        let issuedAt: Int64
        let validUntil: Int64
        let publishers: [[String: String]]
    }

    enum Padding: Encodable {
        case multiple(Int)
        case limit
        case none

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .multiple(let count): try count.encode(to: encoder)
            case .limit: try "max".encode(to: encoder)
            case .none: try "none".encode(to: encoder)
            }
        }
    }
}
