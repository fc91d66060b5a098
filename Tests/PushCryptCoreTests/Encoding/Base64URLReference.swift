import Foundation

/// base64url over Foundation's base64, to compare with.
enum Base64URLReference {
    static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Foundation takes trailing bits of any value: only what it would write itself is canonical.
    static func decode(_ text: String) -> [UInt8]? {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding), encode(Array(data)) == text else { return nil }
        return Array(data)
    }
}
