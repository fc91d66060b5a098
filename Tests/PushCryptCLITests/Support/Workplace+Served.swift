import Foundation
import PushCryptTestSupport
import Testing

/// Keysets in Keys, and their sets in www.
extension Workplace {
    /// Publishes a keyset in www. That of a sender is signed by Publisher/app.
    func publish(_ path: String, _ kind: String, _ options: String...) throws -> Output {
        let signer = kind == "sender" ? ["--signed-by", "Publisher/app"] : []
        return try run(["keys", "publish", path, "--to", "www", "--at", Self.now] + signer + options)
    }

    /// The errors that `keys doctor Keys --served www` finds.
    func servedErrors() throws -> [[String: String]] {
        try settle("Keys")
        let output = try run("keys", "doctor", "Keys", "--served", "www", "--json", "--at", Self.now)
        let found = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
        return found.filter { $0["severity"] == "error" }
    }

    /// Creates a keyset that can be published in www, and returns its kid.
    @discardableResult
    func createPublishable(_ path: String, _ kind: String) throws -> String {
        let kid = try create(path, kind)
        if kind == "sender" { try succeed("keys", "policy", path, "--publish-topic", "com.example.app") }
        return kid
    }
}
