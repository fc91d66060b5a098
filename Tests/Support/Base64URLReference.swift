import Foundation

/// base64url by Foundation's base64, as a reference for comparisons.
public enum Base64URLReference {
    public static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    public static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString()
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// Foundation ignores trailing bits, so a text is canonical only if encoding returns it again.
    public static func decode(_ text: String) -> [UInt8]? {
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: base64 + padding), encode(Array(data)) == text else { return nil }
        return Array(data)
    }

    /// Whether an encoder would write this text for some bytes.
    public static func isCanonical(_ text: String) -> Bool { !text.isEmpty && decode(text) != nil }
}
