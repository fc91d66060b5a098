import Foundation

@testable import PushCryptCore

/// The value that Foundation reads from the bytes; nil if it refuses them.
func foundationValue(_ bytes: [UInt8]) -> Any? {
    try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
}

/// The path of the first difference between two values; nil if they have the same meaning.
func difference(_ ours: JSONValue, _ theirs: Any, path: String = "$") -> String? {
    switch ours.kind {
    case .null: return theirs is NSNull ? nil : path
    case .boolean: return isBoolean(theirs) && theirs as? Bool == ours.boolean ? nil : path
    case .number: return isSameNumber(ours, theirs) ? nil : path
    case .string: return isSameString(ours, theirs) ? nil : path
    case .array:
        let elements = Array(ours.elements)
        guard let theirs = theirs as? [Any], theirs.count == elements.count else { return path }
        for (index, element) in elements.enumerated() {
            if let found = difference(element, theirs[index], path: "\(path)[\(index)]") { return found }
        }
        return nil
    case .object:
        return objectDifference(ours, theirs, path: path)
    }
}

/// Foundation's dictionary can't contain two canonically equal names. Objects with such names aren't compared.
private func objectDifference(_ ours: JSONValue, _ theirs: Any, path: String) -> String? {
    let names = ours.members.map(\.name)
    guard let theirs = theirs as? [String: Any], theirs.count == Set(names).count else { return path }
    guard theirs.count == names.count else { return nil }
    for member in ours.members {
        let memberPath = "\(path).\(member.name)"
        guard let value = theirs[member.name] else { return memberPath }
        if let found = difference(member.value, value, path: memberPath) { return found }
    }
    return nil
}

/// Foundation on Linux loses U+FEFF at the start of a string and after an escape.
private func isSameString(_ ours: JSONValue, _ theirs: Any) -> Bool {
    guard let own = ours.string, let utf8 = ours.utf8, let theirs = theirs as? String else { return false }
    guard Array(own.utf8) == Array(utf8) else { return false }
    if Array(theirs.utf8) == Array(utf8) { return true }
    func withoutMark(_ string: String) -> [Unicode.Scalar] { string.unicodeScalars.filter { $0 != "\u{FEFF}" } }
    return own.unicodeScalars.contains("\u{FEFF}") && withoutMark(own) == withoutMark(theirs)
}

private func isSameNumber(_ ours: JSONValue, _ theirs: Any) -> Bool {
    guard let number = theirs as? NSNumber, !isBoolean(number), let double = ours.double else { return false }
    // For tokens of many digits, whose decimal value Foundation rounds to a double twice.
    guard !(number is NSDecimalNumber) else { return Double(number.stringValue) == double }
    if let integer = ours.protocolInteger, number.int64Value != integer { return false }
    return number.doubleValue == double
}

/// A boolean and the number 1 are the same class otherwise, and each casts to the other.
private func isBoolean(_ value: Any) -> Bool {
    String(describing: type(of: value)) == "__NSCFBoolean"
}
