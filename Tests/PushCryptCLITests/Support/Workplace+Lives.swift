import Foundation
import Testing

extension Workplace {
    /// A keyset of shared keys that have lived as these lifecycle members say, written by hand. Returns the kids; a key
    /// with `destroyedAt` is a tombstone.
    @discardableResult
    func writeKeyset(
        _ path: String, _ lifecycles: [String], updatedAt: String = "2026-02-01T09:00:00Z", policy: String? = nil
    ) throws -> [String] {
        var (keys, members, kids) = ([String](), [String](), [String]())
        for (index, lifecycle) in lifecycles.enumerated() {
            let isTombstone = lifecycle.contains("destroyedAt")
            let key = isTombstone ? (kid: Self.tombstone(index), jwk: "") : try Self.stock.get()[keys.count]
            if !isTombstone { keys.append(key.jwk) }
            members.append(#""\#(key.kid)": {\#(lifecycle.isEmpty ? "" : lifecycle + ", ")"suite": "shared"}"#)
            kids.append(key.kid)
        }
        let policy = policy.map { #""policy": \#($0), "# } ?? ""
        let text = """
            {"keys": [\(keys.joined(separator: ",\n"))],
             "pushcrypt": {"seq": 7, "updatedAt": "\(updatedAt)", "kind": "shared", \(policy)"keys": {
               \(members.joined(separator: ",\n"))}}}
            """
        try makeFolder(path)
        try write(Data(text.utf8), to: path + "/keyset.json")
        return kids
    }

    /// The text with the kids by their places: `key number0`, as long as a kid.
    static func named(_ text: String, _ kids: [String]) -> String {
        kids.enumerated().reduce(text) { text, kid in
            text.replacing(kid.element, with: "key number ".prefix(11 - String(kid.offset).count) + String(kid.offset))
        }
    }

    private static func tombstone(_ index: Int) -> String {
        "tombstone" + String(UnicodeScalar(UInt8(65 + index))) + "A"
    }

    /// Shared keys, made once: what they are doesn't matter.
    private static let stock = Result {
        let place = try Workplace()
        return try (0..<12).map { index in
            let kid = try place.create("Keys/\(index)", "shared")
            let text = String(decoding: try place.read("Keys/\(index)/keyset.json"), as: UTF8.self)
            return (kid: kid, jwk: String(try #require(text.firstMatch(of: /\{"kty".*\}/)?.0)))
        }
    }
}
