import PushCryptCore
import PushCryptKeystore

/// Faults of `aps`, which APNs and iOS read.
extension PayloadFaults {
    static func apsMissing(_ evidence: Evidence) -> Fault? {
        guard let root = evidence.payload.root, root["aps"] == nil, evidence.payload.reportedFailure == nil else {
            return nil
        }
        return Fault(
            "aps-missing", "The payload has no \"aps\": APNs refuses it, or iOS shows nothing.",
            ["payload: no member \"aps\""],
            do: sendUnchanged, hides: ["alert-missing", "mutable-content-missing"], explains: [.noPush])
    }

    static func apsNotAnObject(_ evidence: Evidence) -> Fault? {
        guard let aps = evidence.payload.aps, aps.kind != .object else { return nil }
        return Fault(
            "aps-not-an-object", "\"aps\" isn't an object: APNs refuses the push, or iOS ignores it.",
            ["payload: aps is \(aps.kind == .string ? "a string" : "another kind of value")"], do: sendUnchanged,
            hides: ["alert-missing", "mutable-content-missing"], explains: [.noPush])
    }

    static func mutableContent(_ evidence: Evidence) -> Fault? {
        guard let root = evidence.payload.root, evidence.payload.envelope != nil,
            evidence.payload.reportedFailure == nil
        else { return nil }
        let aps = root["aps"]
        let value = aps?["mutable-content"]
        guard value == nil || value?.protocolInteger.map({ $0 != 1 }) == true else { return nil }
        let names = ["mutable-content", "mutable_content", "mutableContent"]
        let elsewhere =
            names.filter { root[$0] != nil } + names.dropFirst().filter { aps?[$0] != nil }.map { "aps.\($0)" }
        let seen = value == nil ? "payload: aps has no \"mutable-content\"" : "payload: aps.mutable-content isn't 1"
        return Fault(
            "mutable-content-missing",
            "The push lacks \"mutable-content\": 1, so iOS doesn't run the extension and shows the placeholder.",
            [seen] + elsewhere.map { "payload: \($0) has no effect" },
            do: (value == nil ? "Add \"mutable-content\": 1 to \"aps\". " : "Set \"mutable-content\" in \"aps\" to 1. ")
                + "Sealing writes it, so something \(value == nil ? "removed" : "changed") it: \(sendUnchanged)",
            explains: [.noPush])
    }

    static func alertMissing(_ evidence: Evidence) -> Fault? {
        guard let aps = evidence.payload.aps, evidence.payload.reportedFailure == nil,
            !evidence.payload.isOfLiveActivity, !AlertText.isVisible(in: aps["alert"])
        else { return nil }
        let isBackground = aps["content-available"] != nil
        let cause =
            aps["alert"] == nil
            ? "The push has no alert, so iOS doesn't run the extension and shows nothing."
            : "The push has an alert without a visible text: iOS doesn't run the extension, or the extension refuses the push."
        return Fault(
            "alert-missing", cause,
            [
                "payload: aps.alert "
                    + (aps["alert"] == nil
                        ? "is missing" : "has no title, subtitle, body or loc-key with a visible character")
            ]
                + (isBackground ? ["payload: aps has \"content-available\", as a background push"] : []),
            do: "Give the placeholder a text, such as \"New message\". The extension replaces it.",
            explains: [.noPush, .failure(.malformed)])
    }

    /// Values of wrong types, and values that the app's `userInfo` can't have.
    static func ignoredValues(_ evidence: Evidence) -> Fault? {
        let visible = visibleWarnings(evidence).filter { $0.code != .outerNull }
        let sealed = evidence.trial?.payload.map { PayloadWarning.all(in: $0) } ?? []
        let seen = visible.map { "payload: \($0)" } + sealed.map { "the sealed message: \($0)" }
        guard !seen.isEmpty else { return nil }
        return Fault(
            .warning, "value-ignored", "A device ignores or changes values of the payload, without an error.", seen,
            do: "Write each value in the type that Apple documents, such as \"badge\": 3 and not \"badge\": \"3\".")
    }

    private static func visibleWarnings(_ evidence: Evidence) -> [PayloadWarning] {
        let payload = evidence.payload
        let isSealed = payload.envelope != nil && payload.reportedFailure == nil
        return payload.root.map { PayloadWarning.all(in: $0, isOuter: isSealed) } ?? []
    }

    static func nulls(_ evidence: Evidence) -> Fault? {
        guard evidence.payload.envelope != nil,
            let warning = visibleWarnings(evidence).first(where: { $0.code == .outerNull })
        else { return nil }
        let text = warning.code.text
        return Fault(
            .warning, "payload-null", text.prefix(1).uppercased() + text.dropFirst() + ".",
            ["payload: the first null is at byte \(warning.byteOffset)"],
            do: "Leave the member out if it has no value. \(sendUnchanged)", explains: [.noPush])
    }

    static func textsByKey(_ evidence: Evidence) -> Fault? {
        let sealed = evidence.trial?.payload?["aps"]?["alert"]
        let alerts = [("payload", evidence.payload.aps?["alert"]), ("the sealed message", sealed)]
        let seen = alerts.flatMap { place, alert in
            Self.textKeys(alert).map { "\(place): aps.alert has \"\($0)\" and no literal text" }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            .note, "texts-by-key",
            "An alert names only texts of the app. If the app lacks them, the device shows the names, the placeholder or "
                + "nothing.", seen,
            do: "Check that the app's Localizable.strings or string catalog has these keys in each language.")
    }

    /// The keys of the app's texts in an alert without literal text.
    private static func textKeys(_ alert: JSONValue?) -> [String] {
        guard let alert, !AlertPart.allCases.contains(where: { alert[$0.rawValue]?.isVisibleString == true }) else {
            return []
        }
        return LocalizedKey.all(in: alert).map(\.part.keyName)
    }
}
