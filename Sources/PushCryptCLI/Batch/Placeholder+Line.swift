import PushCryptCore

extension Placeholder {
    /// Reads "placeholder" of a line: an object of Apple's alert keys.
    init(line value: JSONValue) throws(LineRefusal) {
        guard value.kind == .object else { throw .malformedLine("\"placeholder\" is not an object") }
        self.init()
        for member in value.members {
            if let text = Self.texts[member.name] {
                guard let string = member.value.string else {
                    throw .malformedLine("\"\(member.name)\" of \"placeholder\" is not a string")
                }
                self[keyPath: text] = string
            } else if let arguments = Self.arguments[member.name] {
                self[keyPath: arguments] = try member.value.strings(
                    orRefuse: "\"\(member.name)\" of \"placeholder\" is not an array of strings")
            } else {
                throw .malformedLine("\"placeholder\" has a member that is not one of Apple's alert keys")
            }
        }
    }

    private static let texts: [String: any WritableKeyPath<Placeholder, String?> & Sendable] = [
        "title": \.title, "subtitle": \.subtitle, "body": \.body, "title-loc-key": \.titleLocKey,
        "subtitle-loc-key": \.subtitleLocKey, "loc-key": \.bodyLocKey, "launch-image": \.launchImage,
    ]
    private static let arguments: [String: any WritableKeyPath<Placeholder, [String]> & Sendable] = [
        "title-loc-args": \.titleLocArguments, "subtitle-loc-args": \.subtitleLocArguments,
        "loc-args": \.bodyLocArguments,
    ]
}

extension JSONValue {
    /// The strings of an array of strings.
    func strings(orRefuse message: String) throws(LineRefusal) -> [String] {
        let strings = elements.compactMap(\.string)
        guard kind == .array, strings.count == elements.count else { throw .malformedLine(message) }
        return strings
    }
}
