/// A part of a payload that devices ignore or change, although the payload can be sealed. It contains nothing of the payload but
/// the names of Apple's members.
public struct PayloadWarning: Hashable, Sendable, CustomStringConvertible {
    /// The kind of warning; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// What the device does, without a place.
        package let text: String

        private init(_ name: String, _ text: String = "") { (description, self.text) = (name, text) }

        /// A member of `aps` has a value of another type or range than Apple defines: the device ignores it.
        public static let wrongType = Code("wrongType")
        /// An argument of a text by key that isn't a string: the device inserts another text, or shows the literal.
        public static let otherArgument = Code("otherArgument")
        /// Null in an array: the app's `userInfo` has an empty string in its place.
        public static let nullElement = Code(
            "nullElement", "null in an array: the app gets an empty string in its place")
        /// Null anywhere in the outer payload of a sealed push.
        package static let outerNull = Code(
            "outerNull",
            "null in the visible payload: iOS makes a property list of it, which has no null, and may drop the push")
        /// A number outside of `Double`: the app's `userInfo` doesn't have it, or has an empty string in an array.
        public static let numberTooLarge = Code(
            "numberTooLarge",
            "a number is too large for a Double: the app doesn't get its member; "
                + "in an array it gets an empty string in its place")
        /// An integer of more than 64 bits: the app's `userInfo` has the nearest `Double`.
        public static let integerRounded = Code(
            "integerRounded", "an integer of more than 64 bits: the app gets the nearest Double")
    }

    /// The kind of warning.
    public let code: Code
    /// The offset of the value in the payload, in bytes; of the first one, if there are several.
    public let byteOffset: Int
    /// What the device does with which value. It has no character that JSON escapes.
    public let description: String
}

extension PayloadWarning {
    /// - Parameters:
    ///   - payload: an APNs payload before it is sealed, after it was opened, or as APNs gets it.
    ///   - isOuter: whether it is the outer payload of a sealed push.
    package static func all(in payload: JSONValue, isOuter: Bool = false) -> [PayloadWarning] {
        let aps = payload["aps"]
        let alert = aps?["alert"]
        var warnings = wrongTypes(.aps, aps) + wrongTypes(.alert, alert) + wrongTypes(.sound, aps?["sound"])
        // Every payload is checked before it is sealed. Most have neither an array nor a long number.
        let (hasArray, hasLongNumber) = payload.text.unusualValues
        if hasArray { warnings += LocalizedKey.all(in: alert).flatMap { otherArguments(of: $0, isOuter) } }
        if hasArray || hasLongNumber || isOuter { warnings += custom(payload, isOuter) }
        return warnings
    }

    /// The first argument of each kind that isn't a string.
    private static func otherArguments(of key: LocalizedKey, _ isOuter: Bool) -> [PayloadWarning] {
        var kinds: [JSONValue.Kind] = isOuter ? [.null] : []
        return key.otherArguments.compactMap { index, argument in
            guard !kinds.contains(argument.kind) else { return nil }
            kinds.append(argument.kind)
            let effect =
                switch argument.kind {
                case .object, .array:
                    "which has no text: in place of the app's text, the device shows the literal \(key.part.rawValue) "
                        + "or, without one, no \(key.part.rawValue); if no text is left, it shows the placeholder"
                case .null: "and the device inserts an empty text"
                case .number, .boolean, .string: "and the device inserts its JSON text"
                }
            let text = "argument \(index + 1) of \(key.part.argumentsName) is \(argument.kindText), \(effect)"
            return PayloadWarning(code: .otherArgument, byteOffset: argument.range.lowerBound, description: text)
        }
    }

    /// Encoders write null for a member that the payload doesn't have, so null isn't a wrong type.
    private static func wrongTypes(_ place: APSObject, _ object: JSONValue?) -> [PayloadWarning] {
        guard let object, object.kind == .object else { return [] }
        var warnings: [PayloadWarning] = []
        // An object has few of its members, and each is read once.
        let (text, defined) = (object.text, place.members)
        text.visitMembers(of: object.index) { key, index in
            guard let (name, type) = defined.first(where: { text.content(of: key, equals: $0.key) }) else { return }
            let value = JSONValue(text, at: index)
            guard value.kind != .null, !type.isRead(value) else { return }
            let text =
                "\(place.rawValue).\(name) is \(value.kindText) and not \(type.description): the device ignores it"
            warnings.append(PayloadWarning(code: .wrongType, byteOffset: value.range.lowerBound, description: text))
        }
        return warnings
    }

    /// The values that a property list can't represent. The arguments of localised texts have rules of their own.
    private static func custom(_ payload: JSONValue, _ isOuter: Bool) -> [PayloadWarning] {
        var found: [Code: [Int]] = [:]
        func add(_ code: Code, _ value: JSONValue) { found[code, default: []].append(value.range.lowerBound) }
        if isOuter {
            payload.visitValues(except: nil) { value, _ in if value.kind == .null { add(.outerNull, value) } }
        }
        payload.visitValues(except: payload["aps"]?["alert"]) { value, isElement in
            switch (value.kind, PropertyListNumber(value)) {
            case (.null, _): if isElement, !isOuter { add(.nullElement, value) }
            case (.number, nil): add(.numberTooLarge, value)
            case (_, .double(_, isRounded: true)): add(.integerRounded, value)
            default: break
            }
        }
        return found.map { code, offsets in
            let place = (offsets.count == 1 ? "" : "\(offsets.count), the first ") + "at byte \(offsets[0])"
            return PayloadWarning(code: code, byteOffset: offsets[0], description: "\(code.text) (\(place))")
        }.sorted { $0.byteOffset < $1.byteOffset }
    }
}

extension JSONText {
    /// Whether there is an array, and a number that may be too large for 64 bits or a `Double`.
    fileprivate var unusualValues: (hasArray: Bool, hasLongNumber: Bool) {
        var (hasArray, hasLongNumber) = (false, false)
        for node in tape {
            switch node.kind {
            case .array: hasArray = true
            case .number where node.range.count > 18: hasLongNumber = true
            case .number: for byte in bytes[node.range] where byte.isOne(of: "eE") { hasLongNumber = true }
            default: break
            }
        }
        return (hasArray, hasLongNumber)
    }
}

/// A number as a property list has it.
package enum PropertyListNumber {
    case integer(Int)
    case unsigned(UInt64)
    /// `isRounded`: whether it stands for an integer of more than 64 bits.
    case double(Double, isRounded: Bool)

    /// - Returns: nil for a value that isn't a number, or is too large for a `Double`.
    package init?(_ value: JSONValue) {
        guard value.kind == .number else { return nil }
        let text = String(decoding: value.rawBytes, as: UTF8.self)
        guard
            let number = Int(text).map(Self.integer) ?? UInt64(text).map(Self.unsigned)
                ?? value.double.map({ .double($0, isRounded: !text.utf8.contains { $0.isOne(of: ".eE") }) })
        else { return nil }
        self = number
    }
}

extension JSONValue {
    /// Calls `body` with each value that is neither an array nor an object, and whether it is an element of an array. It leaves out
    /// `other`, a value of the same text.
    package func visitValues(
        except other: JSONValue?, isElement: Bool = false, _ body: (JSONValue, _ isElement: Bool) -> Void
    ) {
        switch kind {
        case _ where index == other?.index: break
        case .array: for element in elements { element.visitValues(except: other, isElement: true, body) }
        case .object: for member in members { member.value.visitValues(except: other, body) }
        default: body(self, isElement)
        }
    }
}
