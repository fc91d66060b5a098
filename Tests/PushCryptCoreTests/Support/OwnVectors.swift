import PushCryptTestSupport

@testable import PushCryptCore

/// Tests/Vectors/pushcrypt-v1.json: made by the Python reference.
struct OwnVectors: Decodable {
    struct ContextInfo: Decodable {
        let key: String
        let signer: String
        let hex: HexBytes
    }

    struct Opened: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let key: String
        let trust: [String]?
        let payload: String
        let id: String
        let iat: Int64
        let exp: Int64

        var description: String { name }
    }

    let topic: String
    let inner: String
    let device: String
    let keys: [String: [String: String]]
    let contextInfo: ContextInfo
    let opened: [Opened]

    /// Those of xwing-keys.json.
    static let xWingKeys: [String: [String: String]] = {
        struct File: Decodable { let keys: [String: [String: String]] }
        return try! Vectors.loadOwn("xwing-keys.json", as: File.self).keys
    }()

    static let shared = try! Vectors.loadOwn("pushcrypt-v1.json", as: OwnVectors.self)
}
