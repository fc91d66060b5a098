import Foundation

/// The objects of a JSON text and their members, byte for byte. It refuses what two readers could read in different ways: a name
/// that occurs twice in an object, and a comma without a value after it, which `JSONDecoder` accepts.
///
/// It finds where each value ends. Whether numbers and texts have JSON's form is checked by `JSONDecoder`.
struct StrictJSON {
    /// Why a text is refused.
    struct Flaw: Error {
        let reason: String
        let byte: Int
    }

    struct Value {
        let range: Range<Int>
        /// Empty unless this is an object.
        let members: [(name: String, value: Value)]
    }

    let root: Value
    private let bytes: [UInt8]

    init(_ text: Data) throws(Flaw) {
        bytes = [UInt8](text)
        var scanner = Scanner(bytes: bytes)
        root = try scanner.value(depth: 0)
        scanner.skipSpace()
        guard scanner.next == nil else { throw scanner.flaw("more text after the JSON value") }
    }

    /// The value of a member of the root, byte for byte: a decoder would round large numbers.
    subscript(name: String) -> Data? {
        root.members.first { $0.name == name }.map { Data(bytes[$0.value.range]) }
    }

    /// The names of the members of an object that is a member of the root.
    func names(in object: String) -> [String] {
        root.members.first { $0.name == object }?.value.members.map(\.name) ?? []
    }
}

private struct Scanner {
    private static let largestDepth = 64
    private static let space: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    private static let endsOfScalars = space.union([",", "]", "}", ":", "{", "[", "\""].map(\Unicode.Scalar.byte))

    let bytes: [UInt8]
    private var index = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    func flaw(_ reason: String) -> StrictJSON.Flaw { StrictJSON.Flaw(reason: reason, byte: index) }

    mutating func skipSpace() { while let next, Self.space.contains(next) { index += 1 } }

    /// Skips white space and a character.
    ///
    /// - Returns: whether the character was there.
    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard next == character.byte else { return false }
        index += 1
        return true
    }

    mutating func value(depth: Int) throws(StrictJSON.Flaw) -> StrictJSON.Value {
        guard depth <= Self.largestDepth else { throw flaw("arrays and objects are nested too deeply") }
        skipSpace()
        let start = index
        var members: [(name: String, value: StrictJSON.Value)] = []
        if skip("{") {
            try list(until: "}") { scanner throws(StrictJSON.Flaw) in
                members.append(try scanner.member(depth: depth + 1, after: members))
            }
        } else if skip("[") {
            try list(until: "]") { scanner throws(StrictJSON.Flaw) in _ = try scanner.value(depth: depth + 1) }
        } else if next == ("\"" as Unicode.Scalar).byte {
            try string()
        } else {
            while let next, !Self.endsOfScalars.contains(next) { index += 1 }
            guard index > start else { throw flaw("a value is missing") }
        }
        return StrictJSON.Value(range: start..<index, members: members)
    }

    private mutating func list(
        until end: Unicode.Scalar, element: (inout Scanner) throws(StrictJSON.Flaw) -> Void
    ) throws(StrictJSON.Flaw) {
        if skip(end) { return }
        repeat { try element(&self) } while skip(",")
        guard skip(end) else { throw flaw("a comma or \(end) is missing") }
    }

    private mutating func member(
        depth: Int, after members: [(name: String, value: StrictJSON.Value)]
    ) throws(StrictJSON.Flaw) -> (name: String, value: StrictJSON.Value) {
        skipSpace()
        guard next == ("\"" as Unicode.Scalar).byte else { throw flaw("the name of a member is missing") }
        let start = index
        try string()
        guard let name = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<index])) else {
            throw flaw("the name of a member isn't a JSON string")
        }
        guard !members.contains(where: { $0.name == name }) else {
            throw flaw("the member \(name.isName ? name : "before this byte") is there twice")
        }
        guard skip(":") else { throw flaw("a colon is missing") }
        return (name, try value(depth: depth))
    }

    /// Skips a string.
    private mutating func string() throws(StrictJSON.Flaw) {
        index += 1
        while let byte = next, byte != ("\"" as Unicode.Scalar).byte {
            index += byte == ("\\" as Unicode.Scalar).byte ? 2 : 1
        }
        guard index < bytes.count else {
            index = bytes.count
            throw flaw("a string has no end")
        }
        index += 1
    }
}

extension Unicode.Scalar {
    /// The byte of an ASCII character.
    fileprivate var byte: UInt8 { UInt8(ascii: self) }
}
