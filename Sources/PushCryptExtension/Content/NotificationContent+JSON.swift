import PushCryptCore

extension NotificationContent {
    /// What the system shows of an APNs payload by itself; nil for one without text.
    package init?(asItCame payload: [UInt8]) {
        guard let text = try? JSONText(payload) else { return nil }
        self.init(payload: text, userInfo: payload)
        guard hasText else { return nil }
    }

    /// Reads an APNs payload. Members of a type that APNs doesn't have are left out, as the system does.
    ///
    /// - Parameter userInfo: what is for the app, as a JSON object.
    init(payload: JSONText, userInfo: [UInt8]) {
        guard let aps = payload.root["aps"] else { return }
        if let alert = aps["alert"] {
            takeText(of: alert)
            summaryArgument = alert["summary-arg"]?.string
            summaryArgumentCount = alert["summary-arg-count"]?.integer
        }
        badge = aps["badge"]?.integer
        sound = aps["sound"].flatMap(Sound.init(json:))
        category = aps["category"]?.string
        threadID = aps["thread-id"]?.string
        interruptionLevel = aps["interruption-level"]?.string
        relevanceScore = aps["relevance-score"]?.double
        targetContentID = aps["target-content-id"]?.string
        filterCriteria = aps["filter-criteria"]?.string
        self.userInfo = userInfo
    }

    /// - Parameter alert: `aps.alert`, an object, or a string that is the body.
    mutating func takeText(of alert: JSONValue) {
        title = Text(alert, literal: "title", locKey: "title-loc-key", locArguments: "title-loc-args")
        subtitle = Text(alert, literal: "subtitle", locKey: "subtitle-loc-key", locArguments: "subtitle-loc-args")
        body =
            alert.string.map { text in Text(literal: text) }
            ?? Text(alert, literal: "body", locKey: "loc-key", locArguments: "loc-args")
    }
}

extension NotificationContent.Text {
    fileprivate init(_ alert: JSONValue, literal: String, locKey: String, locArguments: String) {
        self.init(
            literal: alert[literal]?.string, locKey: alert[locKey]?.string,
            locArguments: alert[locArguments]?.elements.compactMap(\.string) ?? [])
    }
}

extension NotificationContent.Sound {
    init?(json: JSONValue) {
        if let name = json.string {
            guard !name.isEmpty else { return nil }
            self.init(name: name)
        } else {
            guard json.kind == .object else { return nil }
            self.init(
                name: json["name"]?.string ?? "default", isCritical: json["critical"]?.protocolInteger == 1,
                volume: json["volume"]?.double)
        }
    }
}

extension JSONValue {
    fileprivate var integer: Int? {
        double.flatMap(Int.init(exactly:))
    }
}
