import PushCryptCore

/// What is wrong with a JSON object of a grammar, for its author.
struct MemberError: Error {
    let reason: String
}

/// The members of a JSON object that a grammar names. Each has a type, and any other member is refused, because a misspelt one
/// would have no effect.
struct MemberReader {
    private let object: JSONValue
    let name: String
    private var known: [String] = []

    /// Reads an object with all its members.
    ///
    /// - Parameter name: of the object in messages, such as `tap`.
    static func read<Value>(
        _ value: JSONValue, _ name: String, _ body: (inout MemberReader) throws(MemberError) -> Value
    ) throws(MemberError) -> Value {
        guard value.kind == .object else {
            throw MemberError(reason: "\(name) must be an object, and is \(value.kindText)")
        }
        var reader = MemberReader(object: value, name: name)
        let result = try body(&reader)
        try reader.refuseOthers()
        return result
    }

    private init(object: JSONValue, name: String) { (self.object, self.name) = (object, name) }

    /// Reads a member that may be missing.
    ///
    /// - Parameter kind: what its value is, with an article.
    /// - Parameter convert: nil for a value of another kind.
    mutating func member<Value>(
        _ member: String, _ kind: String, _ convert: (JSONValue) -> Value?
    ) throws(MemberError) -> Value? {
        known.append(member)
        guard let json = object[member] else { return nil }
        guard let value = convert(json) else { throw MemberError(reason: "\(name): \(member) must be \(kind)") }
        return value
    }

    /// Reads a member that must be there.
    mutating func required<Value>(
        _ member: String, _ kind: String, _ convert: (JSONValue) -> Value?
    ) throws(MemberError) -> Value {
        if let value = try self.member(member, kind, convert) { return value }
        let similar = Spelling.nearest(to: member, in: others) ?? (others.count == 1 ? others[0] : nil)
        throw MemberError(
            reason: "\(name) needs \(member), which is \(kind)" + (similar.map { "; there is \($0)" } ?? ""))
    }

    /// Reads an object in a member that may be missing.
    mutating func object<Value>(
        _ member: String, _ body: (inout MemberReader) throws(MemberError) -> Value
    ) throws(MemberError) -> Value? {
        known.append(member)
        guard let json = object[member] else { return nil }
        return try Self.read(json, "\(name), \(member)", body)
    }

    /// Reads the objects of an array in a member that may be missing.
    mutating func objects<Value>(
        _ member: String, _ body: (inout MemberReader) throws(MemberError) -> Value
    ) throws(MemberError) -> [Value]? {
        let array = try self.member(member, "an array") { $0.kind == .array ? $0.elements : nil }
        guard let array else { return nil }
        var values: [Value] = []
        for (index, element) in array.enumerated() {
            values.append(try Self.read(element, "\(name), \(member) \(index + 1)", body))
        }
        return values
    }

    /// Refuses members that weren't read.
    func refuseOthers() throws(MemberError) {
        guard let other = others.first else { return }
        throw unknown(other)
    }

    private var others: [String] { object.members.filter { !known.contains($0.name) }.map(\.name) }

    private func unknown(_ other: String) -> MemberError {
        let similar = Spelling.nearest(to: other, in: known.filter { object[$0] == nil })
        return MemberError(
            reason: "\(name) has no member \(other)"
                + (similar.map { ": do you mean \($0)?" } ?? ""))
    }
}

extension MemberReader {
    mutating func text(_ member: String) throws(MemberError) -> String {
        try required(member, "a non-empty text", Self.text)
    }

    mutating func text(ifAny member: String) throws(MemberError) -> String? {
        try self.member(member, "a non-empty text", Self.text)
    }

    mutating func texts(_ member: String) throws(MemberError) -> [String] {
        try required(member, "an array of texts", Self.texts)
    }

    mutating func texts(ifAny member: String) throws(MemberError) -> [String]? {
        try self.member(member, "an array of texts", Self.texts)
    }

    mutating func duration(_ member: String) throws(MemberError) -> Duration {
        try required(member, "a duration such as \"2h\"", Self.duration)
    }

    mutating func duration(ifAny member: String) throws(MemberError) -> Duration? {
        try self.member(member, "a duration such as \"2h\"", Self.duration)
    }

    /// How long `advance` lets pass. In a longer time a repeated notification would be shown millions of times.
    mutating func advance() throws(MemberError) -> Duration {
        let duration = try duration("by")
        guard duration <= .seconds(366 * 86_400) else { throw MemberError(reason: "\(name): by is at most 366d") }
        return duration
    }

    mutating func time(_ member: String) throws(MemberError) -> UnixTime {
        try required(member, "a time such as \"2026-03-01T09:00:00Z\"") { json in
            json.string.flatMap(UnixTime.init(argument:))
        }
    }

    mutating func boolean(_ member: String) throws(MemberError) -> Bool? {
        try self.member(member, "true or false", \.boolean)
    }

    mutating func integer(_ member: String) throws(MemberError) -> Int? {
        try self.member(member, "a whole number") { $0.double.flatMap(Int.init(exactly:)) }
    }

    mutating func number(
        _ member: String, in range: ClosedRange<Double> = -.infinity ... .infinity
    ) throws(MemberError) -> Double {
        let isBounded = range.upperBound < .infinity
        let bounds = isBounded ? " from \(Int(range.lowerBound)) to \(Int(range.upperBound))" : ""
        return try required(member, "a number\(bounds)") { $0.double.flatMap { range.contains($0) ? $0 : nil } }
    }

    /// One of the texts that stand for values.
    mutating func choice<Value>(
        _ member: String, _ choices: KeyValuePairs<String, Value>
    ) throws(MemberError) -> Value? {
        try self.member(member, "one of " + choices.map(\.key).joined(separator: ", ")) { json in
            choices.first { json.isString($0.key) }?.value
        }
    }

    /// An array of the names of options.
    mutating func options<Options: OptionSet>(
        _ member: String, _ names: KeyValuePairs<String, Options>
    ) throws(MemberError) -> Options? where Options.Element == Options {
        let kind = "an array of " + names.map(\.key).joined(separator: ", ")
        guard let texts = try self.member(member, kind, Self.texts) else { return nil }
        var options: Options = []
        for text in texts {
            guard let known = names.first(where: { $0.key == text }) else {
                let similar = Spelling.nearest(to: text, in: names.map(\.key))
                throw MemberError(
                    reason: "\(name): \(member) must be \(kind), and has \(text)"
                        + (similar.map { ": do you mean \($0)?" } ?? ""))
            }
            options.formUnion(known.value)
        }
        return options
    }

    private static func duration(_ json: JSONValue) -> Duration? {
        json.string.flatMap(DurationText.seconds).map { .seconds($0) }
    }

    private static func texts(_ json: JSONValue) -> [String]? {
        let texts = json.elements.compactMap(text)
        return json.kind == .array && texts.count == json.elements.count ? texts : nil
    }

    private static func text(_ json: JSONValue) -> String? { json.isNonEmptyString ? json.string : nil }
}
