import Foundation
import Hummingbird

/// The identifiers that come from outside. Each is checked where it enters, before it is stored or compared: SQLite, HTTP and C end
/// texts at characters that JSON and bearer tokens can contain, such as NUL.
extension String {
    /// A user: 1 to 256 characters, none of them a control character.
    var isUser: Bool {
        (1...256).contains(unicodeScalars.count)
            && !unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// A segment, or a name that this service made of an installation or a message: 1 to 64 characters of `[A-Za-z0-9._-]`.
    var isName: Bool { has(1...64) { $0.isLetterOrDigit || ".-_".utf8.contains($0) } }

    /// An idempotency key: 1 to 255 characters of `[A-Za-z0-9._:-]`.
    var isIdempotencyKey: Bool { has(1...255) { $0.isLetterOrDigit || ".-_:".utf8.contains($0) } }

    /// A collapse id, which is a header of the request to APNs: 1 to 64 characters of 0x21 to 0x7E.
    var isCollapseID: Bool { has(1...64) { (0x21...0x7E).contains($0) } }

    /// A payload's `push_id`, which devices repeat in receipts: 1 to 256 characters of 0x21 to 0x7E.
    var isPushID: Bool { has(1...256) { (0x21...0x7E).contains($0) } }

    private func has(_ counts: ClosedRange<Int>, _ isAllowed: (UInt8) -> Bool) -> Bool {
        counts.contains(utf8.count) && utf8.allSatisfy(isAllowed)
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension APIContext {
    /// A name in the path that this service made; nil for a text that can't be one.
    func name(_ parameter: String) throws -> String? {
        let name = try parameters.require(parameter)
        return name.isName ? name : nil
    }
}
