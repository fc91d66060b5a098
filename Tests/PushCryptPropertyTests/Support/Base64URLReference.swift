import Foundation

enum Base64URLReference {
    static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    private static let allowed = Set(alphabet.flatMap(\.utf8))

    /// Whether a text is what an encoder would write: decoded by Foundation and encoded again.
    static func isCanonical(_ text: String) -> Bool {
        guard text.utf8.allSatisfy(allowed.contains) else { return false }
        let base64 = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard !text.isEmpty, let data = Data(base64Encoded: base64 + padding) else { return false }
        return data.base64EncodedString() == base64 + padding
    }
}
