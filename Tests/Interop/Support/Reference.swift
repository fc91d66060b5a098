import Foundation

/// The Python reference, one process for all tests: a line of JSON asks, a line of JSON answers.
final class Reference: @unchecked Sendable {
    private static let shared = Result { try Reference() }

    private let lock = NSLock()
    private let requests: FileHandle
    private let answers: FileHandle
    private var unread = Data()
    private var isOver = false

    struct Over: Error, CustomStringConvertible {
        let description = "the Python reference ended"
    }

    /// It ends with its standard input, which ends with the tests.
    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("python/interop.py")
        let (input, output) = (Pipe(), Pipe())
        let process = Python.process([script.path])
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        requests = input.fileHandleForWriting
        answers = output.fileHandleForReading
    }

    static func ask(_ request: some Encodable) throws -> Answer { try shared.get().ask(request) }

    private func ask(_ request: some Encodable) throws -> Answer {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.keyEncodingStrategy = .convertToSnakeCase
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let line = try encoder.encode(request) + [UInt8(ascii: "\n")]
        return try lock.withLock {
            guard !isOver else { throw Over() }
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
            guard !isOver else { throw Over() }
            unread += more
        }
    }
}

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
    let text: String?
    let data: Data?
    let reference: BlobMembers?
    let extras: Extras?

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
        let passphrase: String
    }

    struct SealKeyset: Encodable {
        let op = "seal_keyset"
        let metadata: String
        let keys: [[String: String]]
        let passphrase: String
        var n = 1_024
        var r = 8
        var p = 1
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
