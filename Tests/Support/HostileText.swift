/// What an attacker writes into a JSON text that someone else reads.
public enum HostileText: CaseIterable, CustomStringConvertible, Sendable {
    case deepArrays, deepObjects, duplicateMember, duplicateByEscape, loneHighSurrogate, loneLowSurrogate
    case nulInString, nulBehindText, byteOrderMark, invalidUTF8, overlongUTF8, utf16, twoTexts

    public static let depth = 100_000
    public static let numberByteCount = 10_000_000

    public var description: String {
        switch self {
        case .deepArrays: "\(Self.depth) nested arrays"
        case .deepObjects: "\(Self.depth) nested objects"
        case .duplicateMember: "two members of one name"
        case .duplicateByEscape: "two members of one name, one with an escape"
        case .loneHighSurrogate: "a lone high surrogate"
        case .loneLowSurrogate: "a lone low surrogate"
        case .nulInString: "a NUL byte in a string"
        case .nulBehindText: "a NUL byte behind the text"
        case .byteOrderMark: "a byte order mark"
        case .invalidUTF8: "invalid UTF-8"
        case .overlongUTF8: "NUL as overlong UTF-8"
        case .utf16: "UTF-16"
        case .twoTexts: "a second text behind the first"
        }
    }

    /// The text of an object, which would be read without this change.
    public func text(from object: [UInt8]) -> [UInt8] {
        switch self {
        case .deepArrays: Self.adding(Self.nested("[", "]"), to: object)
        case .deepObjects: Self.adding(Self.nested(#"{"a":"#, "}", core: "0"), to: object)
        case .duplicateMember: Self.adding(Array(#"1,"hostile":2"#.utf8), to: object)
        case .duplicateByEscape: Self.adding(Array(#"1,"hostil\u0065":2"#.utf8), to: object)
        case .loneHighSurrogate: Self.adding(Array(#""\ud800x""#.utf8), to: object)
        case .loneLowSurrogate: Self.adding(Array(#""\udc00""#.utf8), to: object)
        case .nulInString: Self.adding([0x22, 0, 0x22], to: object)
        case .nulBehindText: object + [0]
        case .byteOrderMark: [0xef, 0xbb, 0xbf] + object
        case .invalidUTF8: Self.adding([0x22, 0xc3, 0x28, 0x22], to: object)
        case .overlongUTF8: Self.adding([0x22, 0xc0, 0x80, 0x22], to: object)
        case .utf16: object.flatMap { [$0, 0] }
        case .twoTexts: object + object
        }
    }

    /// The object with a member of digits only, which is a number of JSON.
    public static func withLongNumber(_ object: [UInt8], byteCount: Int = numberByteCount) -> [UInt8] {
        adding([UInt8](repeating: UInt8(ascii: "9"), count: byteCount), to: object)
    }

    /// - Parameter value: the raw value of the member `hostile`, which becomes the object's first member.
    private static func adding(_ value: [UInt8], to object: [UInt8]) -> [UInt8] {
        Array(#"{"hostile":"#.utf8) + value + Array(",".utf8) + object.dropFirst()
    }

    private static func nested(_ opening: String, _ closing: String, core: String = "") -> [UInt8] {
        [[UInt8]](repeating: Array(opening.utf8), count: depth).flatMap { $0 } + Array(core.utf8)
            + [UInt8](repeating: Array(closing.utf8)[0], count: depth)
    }
}
