#if DEBUG
package import PushCryptPrimitives
#else
import PushCryptPrimitives
#endif

/// Scans a text in one pass, checks every rule and writes the tape.
///
/// There is no recursion: each open container's node stores the enclosing one (``JSONNode/next``).
struct JSONScanner {
    let bytes: [UInt8]
    private(set) var tape: [JSONNode] = []
    var position = 0
    /// The tape index of the innermost open container; undefined if `depth` is 0.
    private var container = 0
    private var depth = 0
    private var valuesLeft: Int

    /// - Parameter bytes: at most ``JSONText/maximumCount``.
    init(_ bytes: [UInt8], maximumValueCount: Int) {
        self.bytes = bytes
        valuesLeft = maximumValueCount
        // Payloads have a value or a name in about every 9 bytes.
        tape.reserveCapacity(bytes.count / 8 + 4)
    }

    //  JSON-text = ws value ws
    mutating func scanText() throws(JSONError) {
        if let encoding = TextEncoding(of: bytes.bytes) {
            throw JSONError(encoding == .utf8WithByteOrderMark ? .byteOrderMark : .utf16, at: 0)
        }
        skipWhiteSpace()
        var isValueComplete = try scanValue()
        while !isValueComplete || depth > 0 {
            isValueComplete = isValueComplete ? try scanSeparator() : try scanValue()
        }
        skipWhiteSpace()
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
    }

    //  value = false / null / true / object / array / number / string
    /// - Returns: whether the value is complete: false after the beginning of an array or object that isn't empty.
    @inline(__always)
    private mutating func scanValue() throws(JSONError) -> Bool {
        let byte = try nextByte()
        guard valuesLeft > 0 else { throw JSONError(.tooManyValues, at: position) }
        valuesLeft -= 1
        switch byte {
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "{"): return try open(.object)
        case UInt8(ascii: "["): return try open(.array)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
        case UInt8(ascii: "t"): try scanLiteral("true", .boolean)
        case UInt8(ascii: "f"): try scanLiteral("false", .boolean)
        case UInt8(ascii: "n"): try scanLiteral("null", .null)
        default: throw unexpectedByte()
        }
        return true
    }

    //  object = begin-object [ member *( value-separator member ) ] end-object
    //  array = begin-array [ value *( value-separator value ) ] end-array
    @inline(__always)
    private mutating func open(_ kind: JSONValue.Kind) throws(JSONError) -> Bool {
        guard depth < JSONText.maximumDepth else { throw JSONError(.tooDeep, at: position) }
        let enclosing = container
        container = tape.count
        depth += 1
        tape.append(JSONNode(start: UInt32(position), end: 0, next: UInt32(enclosing), kind: kind, hasEscapes: false))
        position += 1
        skipWhiteSpace()
        if try nextByte() == closingByte(of: kind) {
            try close()
            return true
        }
        if kind == .object { try scanName() }
        return false
    }

    /// Scans what follows a value in a container: the separator and the next member's name, or the end.
    @inline(__always)
    private mutating func scanSeparator() throws(JSONError) -> Bool {
        skipWhiteSpace()
        let kind = tape[container].kind
        switch try nextByte() {
        case UInt8(ascii: ","):
            position += 1
            skipWhiteSpace()
            if kind == .object { try scanName() }
            return false
        case closingByte(of: kind):
            try close()
            return true
        default: throw unexpectedByte()
        }
    }

    @inline(__always)
    private mutating func close() throws(JSONError) {
        position += 1
        let enclosing = Int(tape[container].next)
        tape[container].end = UInt32(position)
        tape[container].next = UInt32(tape.count)
        if tape[container].kind == .object { try refuseDuplicateNames(in: container) }
        container = enclosing
        depth -= 1
    }

    private func closingByte(of kind: JSONValue.Kind) -> UInt8 {
        kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")
    }

    //  member = string name-separator value
    @inline(__always)
    private mutating func scanName() throws(JSONError) {
        guard try nextByte() == UInt8(ascii: "\"") else { throw unexpectedByte() }
        try scanString()
        skipWhiteSpace()
        guard try nextByte() == UInt8(ascii: ":") else { throw unexpectedByte() }
        position += 1
        skipWhiteSpace()
    }

    private mutating func scanLiteral(_ literal: String, _ kind: JSONValue.Kind) throws(JSONError) {
        let start = position
        for byte in literal.utf8 {
            guard try nextByte() == byte else { throw unexpectedByte() }
            position += 1
        }
        append(kind, from: start)
    }

    //  ws = *( %x20 / %x09 / %x0A / %x0D )
    @inline(__always)
    private mutating func skipWhiteSpace() {
        while position < bytes.count, bytes[position] <= 0x20 {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    /// Appends a value without children, which ends at `position`, to the tape.
    @inline(__always)
    mutating func append(_ kind: JSONValue.Kind, from start: Int, hasEscapes: Bool = false) {
        JSONSteps.add(position - start)
        let next = UInt32(tape.count + 1)
        tape.append(
            JSONNode(start: UInt32(start), end: UInt32(position), next: next, kind: kind, hasEscapes: hasEscapes))
    }

    @inline(__always)
    func nextByte() throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.truncated, at: bytes.count) }
        return bytes[position]
    }

    /// The error for the byte at `position`: invalid UTF-8 if it begins such a sequence, else a syntax error.
    func unexpectedByte() -> JSONError {
        guard bytes[position] >= 0x80 else { return JSONError(.syntax, at: position) }
        var ahead = self
        do {
            try ahead.scanMultibyteCharacter()
        } catch {
            if error.code == .invalidUTF8 { return error }
        }
        return JSONError(.syntax, at: position)
    }
}

extension JSONScanner {
    //  number = [ minus ] int [ frac ] [ exp ]
    //  int = zero / ( digit1-9 *DIGIT )
    //  frac = decimal-point 1*DIGIT
    //  exp = e [ minus / plus ] 1*DIGIT
    mutating func scanNumber() throws(JSONError) {
        let start = position
        skip { $0 == UInt8(ascii: "-") }
        if skip({ $0 == UInt8(ascii: "0") }) {
            if position < bytes.count, bytes[position].isDigit { throw unexpectedByte() }
        } else {
            try scanDigits()
        }
        if skip({ $0 == UInt8(ascii: ".") }) { try scanDigits() }
        if skip({ $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
            skip { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
            try scanDigits()
        }
        append(.number, from: start)
    }

    //  1*DIGIT
    private mutating func scanDigits() throws(JSONError) {
        guard try nextByte().isDigit else { throw unexpectedByte() }
        while skip(\.isDigit) {}
    }

    @discardableResult
    private mutating func skip(_ isWanted: (UInt8) -> Bool) -> Bool {
        guard position < bytes.count, isWanted(bytes[position]) else { return false }
        position += 1
        return true
    }
}

extension JSONScanner {
    /// With more members, comparing all pairs costs more than hashing and would be quadratic.
    private static var mostComparedInPairs: Int { 32 }

    /// - Parameter object: the tape index of an object that ends with the tape.
    func refuseDuplicateNames(in object: Int) throws(JSONError) {
        let first = object + 1
        var name = first
        var count = 0
        while name < tape.count {
            if count == Self.mostComparedInPairs || tape[name].hasEscapes {
                return try refuseDuplicateNamesByHashing(from: first)
            }
            var earlier = first
            while earlier < name {
                if isSameUnescaped(earlier, name) { throw JSONError(.duplicateName, at: Int(tape[name].start)) }
                earlier = nameAfter(earlier)
            }
            name = nameAfter(name)
            count += 1
        }
    }

    /// `Set` hashes with a random seed, so that an attacker can't choose names that collide.
    private func refuseDuplicateNamesByHashing(from first: Int) throws(JSONError) {
        var seen = Set<ArraySlice<UInt8>>()
        var name = first
        while name < tape.count {
            let node = tape[name]
            let content = bytes[node.contentRange]
            JSONSteps.add(content.count + 1)
            let isNew = seen.insert(node.hasEscapes ? JSONEscape.removed(from: content)[...] : content).inserted
            guard isNew else { throw JSONError(.duplicateName, at: Int(node.start)) }
            name = nameAfter(name)
        }
    }

    private func nameAfter(_ name: Int) -> Int { Int(tape[name + 1].next) }

    private func isSameUnescaped(_ left: Int, _ right: Int) -> Bool {
        let left = tape[left].contentRange
        let right = tape[right].contentRange
        JSONSteps.add(1)
        guard left.count == right.count else { return false }
        JSONSteps.add(left.count)
        for offset in 0..<left.count where bytes[left.lowerBound + offset] != bytes[right.lowerBound + offset] {
            return false
        }
        return true
    }
}

/// Counts the cost of reading JSON, for tests with hostile texts: one step for each byte of a token that is scanned,
/// compared, hashed or unescaped, and for each member that a lookup passes. Release builds don't count.
package enum JSONSteps {
    #if DEBUG
    /// The counter of the current task.
    @TaskLocal package static var counter: Locked<Int>?
    #endif

    @inline(__always)
    static func add(_ count: @autoclosure () -> Int) {
        #if DEBUG
        guard let counter else { return }
        let count = count()
        counter.withLock { $0 += count }
        #endif
    }
}
