import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport

/// The keys of Tests/Vectors/pushcrypt-v1.json and, where the machine has suite 3, those of xwing-keys.json.
struct TestKeys: Decodable {
    private(set) var keys: [String: [String: String]]

    private static let shared: TestKeys = {
        var shared = try! Vectors.loadOwn("pushcrypt-v1.json", as: TestKeys.self)
        guard Suite.xWing.isAvailable else { return shared }
        shared.keys.merge(try! Vectors.loadOwn("xwing-keys.json", as: TestKeys.self).keys) { $1 }
        return shared
    }()

    static func privateJWK(_ name: String) -> [UInt8] { jwk(name) { _ in true } }

    static func publicJWK(_ name: String) -> [UInt8] { jwk(name) { !["d", "priv"].contains($0) } }

    static func sender(_ backend: any CryptoBackend) throws -> SenderKey {
        try Keyset(json: privateJWK("sender"), backend: backend).senderKey(at: UnixTime(0))
    }

    private static func jwk(_ name: String, _ isIncluded: (String) -> Bool) -> [UInt8] {
        guard let record = shared.keys[name] else { preconditionFailure("no key is named \(name)") }
        let members = record.filter { isIncluded($0.key) }.map { "\"\($0.key)\":\"\($0.value)\"" }
        return Array("{\(members.sorted().joined(separator: ","))}".utf8)
    }
}
