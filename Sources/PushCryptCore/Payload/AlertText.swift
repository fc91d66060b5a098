/// Whether an alert has text: the system shows the original alert in place of a result without any.
package enum AlertText {
    private static let members = ["title", "subtitle", "body", "loc-key", "title-loc-key"]

    package static func isPresent(in alert: JSONValue?) -> Bool {
        guard let alert else { return false }
        return alert.isNonEmptyString || members.contains { name in alert[name]?.isNonEmptyString ?? false }
    }
}
