/// The text of an `aps.alert` object; a plain string is a body.
package enum AlertText {
    /// What APNs shows or localises: literal texts, keys of the app's strings, and their arguments. The members with the
    /// strings key of an action or with a launch image aren't text.
    private static let strings = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
    private static let arguments = ["title-loc-args", "subtitle-loc-args", "loc-args"]

    /// The system shows an alert that has at least one of these.
    private static let sufficient = ["title", "subtitle", "body", "loc-key", "title-loc-key"]

    /// The rule of the protocol: text that isn't empty.
    package static func isPresent(in alert: JSONValue?) -> Bool {
        guard let alert else { return false }
        return alert.isNonEmptyString || sufficient.contains { name in alert[name]?.isNonEmptyString ?? false }
    }

    /// The alert's text members only. Members whose type APNs doesn't define are left out.
    ///
    /// - Returns: raw JSON; nil for what is no alert.
    package static func json(of alert: JSONValue) -> [UInt8]? {
        if alert.kind == .string { return Array(alert.rawBytes) }
        guard alert.kind == .object else { return nil }
        var json = [UInt8]()
        for member in alert.members where isText(member) {
            json.append(UInt8(ascii: json.isEmpty ? "{" : ","))
            JSONWriter.appendString(member.name, to: &json)
            json.append(UInt8(ascii: ":"))
            json += member.value.rawBytes
        }
        json += json.isEmpty ? "{}".utf8 : "}".utf8
        return json
    }

    private static func isText(_ member: JSONMember) -> Bool {
        switch member.value.kind {
        case .string: strings.contains(member.name)
        case .array: arguments.contains(member.name) && member.value.elements.allSatisfy { $0.kind == .string }
        default: false
        }
    }
}
