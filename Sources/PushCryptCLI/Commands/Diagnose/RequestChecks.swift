import PushCryptCore

/// What the request to APNs and its answer show.
enum RequestChecks {
    static let all: [Check] =
        [topicWrong, topicMayBeExtension, pushType] + headers.map { row in { @Sendable facts in finding(row, facts) } }
        + [
            expirationPassed, refused,
        ]

    // MARK: The topic

    /// A push with a wrong topic is refused, or doesn't open.
    private static func topicWrong(_ facts: Facts) -> Finding? {
        let topics = facts.topics
        var seen = topics.map { "\($0.place) is \(RequestHeaders.printable($0.name))" }
        let names = Set(topics.map(\.name))
        let opensWith = facts.trial?.otherTopic
        if let opensWith { seen.append("the push opens with the topic \(opensWith), and not with that of the app") }
        // A service adds the topic.
        let isAdded = facts.payload.request.map { $0.carrier != .apns } ?? false
        let flaw = facts.headers.flatMap { isAdded && $0.topic == nil ? nil : topicFlaw($0) }
        if let flaw { seen.append("headers: \(flaw)") }
        let isWrong = flaw != nil || opensWith != nil || names.count > 1 && !facts.payload.isOfLiveActivity
        guard isWrong else { return nil }
        return Finding(
            .topicWrong,
            "The topic isn't the app's bundle identifier everywhere. A push opens only with the topic that it was "
                + "sealed for.",
            seen,
            do:
                "Use the app's bundle identifier, with the same capital letters, in apns-topic, where your backend "
                + "seals, "
                + "and in the extension. In the extension, Bundle.main is the extension, not the app.")
    }

    /// Why APNs refuses the topic of the request, whatever the app's is.
    private static func topicFlaw(_ headers: RequestHeaders) -> String? {
        guard let topic = headers.topic else {
            guard headers.hasRequest, headers.status != 200, [nil, "MissingTopic"].contains(headers.reason) else {
                return nil
            }
            return "there is no apns-topic"
        }
        let name = topic.withoutOuterWhiteSpace
        if name != topic { return "apns-topic has white space around it" }
        guard (try? Topic(option: name)) == nil else { return nil }
        if name.utf8.contains(where: { !$0.isAlphanumeric && !$0.isOne(of: ".-") }) {
            return "apns-topic has a character other than A-Z a-z 0-9 . -"
        }
        return Topic.hasEmptyPart(name)
            ? "apns-topic has two dots in a row, or a dot at an end"
            : "apns-topic has \(name.count) characters; 155 are allowed"
    }

    /// The topic looks like an extension's, and no input names the app.
    private static func topicMayBeExtension(_ facts: Facts) -> Finding? {
        let topics = facts.topics
        guard Set(topics.map(\.name)).count == 1, facts.app?.app?.identifier == nil, facts.trial?.differences != [],
            let name = topics.first?.name, Topic.looksLikeExtension(name)
        else { return nil }
        // The device opens pushes with the topic of its report.
        let isUsed = facts.report != nil && facts.hasFailed(.undecryptable)
        return Finding(
            isUsed ? .error : .warning, .topicWrong,
            "The topic looks like the bundle identifier of an extension. It must be that of the app.",
            topics.map { "\($0.place) is \(RequestHeaders.printable($0.name))" },
            do:
                "Look up the app's bundle identifier in Xcode. In the extension, Bundle.main is the extension, not "
                + "the app."
        )
    }

    // MARK: The other headers

    private static func pushType(_ facts: Facts) -> Finding? {
        let expected = facts.payload.isOfLiveActivity ? "liveactivity" : "alert"
        guard let headers = facts.headers, headers.hasRequest, headers.pushType != expected else { return nil }
        let type = headers.pushType.map { RequestHeaders.printable($0, limitInBytes: 16) }
        return Finding(
            .headerWrong, "The push isn't sent as an alert, so iOS doesn't run the extension, or APNs drops the push.",
            ["headers: " + (type.map { "apns-push-type is \($0)" } ?? "no apns-push-type")],
            do: "Send apns-push-type: \(expected).")
    }

    /// A header, what a wrong value causes, what to send, and which values are wrong.
    private typealias HeaderRow = (
        name: String, severity: Finding.Severity, cause: String, advice: String, isWrong: @Sendable (String) -> Bool
    )

    private static let priority = "Send apns-priority: 10 for a push that should be shown at once."
    private static let expiration =
        "Send the time at which the push becomes useless, in seconds since 1970: a whole number of 10 digits."
    private static let headers: [HeaderRow] = [
        ("apns-priority", .error, "APNs refuses this priority.", priority, { !["1", "5", "10"].contains($0) }),
        (
            "apns-priority", .note, "The device may receive the push later, to save power.", priority,
            { ["1", "5"].contains($0) }
        ),
        (
            "apns-expiration", .error, "It isn't a whole number: APNs refuses or drops the push.", expiration,
            { Int64($0) == nil }
        ),
        (
            "apns-expiration", .error, "It is in milliseconds: as seconds it is thousands of years ahead.", expiration,
            { Int64($0).map { $0 > UnixTime.latestSeconds } ?? false }
        ),
        (
            "apns-expiration", .error, "It is a duration, and so a time that has passed: APNs drops the push.",
            expiration,
            { Int64($0).map { $0 != 0 && $0 < 1_000_000_000 } ?? false }
        ),
        (
            "apns-expiration", .note, "A device that is off line never receives this push.", expiration,
            { Int64($0) == 0 }
        ),
        (
            "apns-collapse-id", .error, "APNs refuses an id of more than 64 bytes.", "Use a shorter id.",
            { $0.utf8.count > 64 }
        ),
    ]

    private static func finding(_ row: HeaderRow, _ facts: Facts) -> Finding? {
        guard let value = facts.headers?[row.name], row.isWrong(value) else { return nil }
        let shown = RequestHeaders.printable(value, limitInBytes: 32)
        return Finding(row.severity, .headerWrong, row.cause, ["headers: \(row.name) is \(shown)"], do: row.advice)
    }

    /// APNs drops a push after this time; the device shows the placeholder for one that comes after the message's end.
    private static func expirationPassed(_ facts: Facts) -> Finding? {
        guard let seconds = facts.headers?.expiration, (1_000_000_000...UnixTime.latestSeconds).contains(seconds) else {
            return nil
        }
        let (time, end) = (UnixTime(seconds), facts.trial?.header?.expiresAt)
        let isLate = end.map { time > $0 } ?? false
        guard time <= facts.time || isLate else { return nil }
        return Finding(
            .warning, .headerWrong,
            isLate
                ? "The apns-expiration is later than the end of the message: between them APNs delivers a push "
                    + "that the "
                    + "device shows as the placeholder."
                : "The push's apns-expiration has passed. If it had when the push was sent, APNs dropped the push.",
            ["headers: apns-expiration is \(time), now is \(facts.time)"]
                + (end.map { ["the sealed message: it expires at \($0)"] } ?? []),
            do: "Send the apns-expiration that sealing returns, or an earlier one.")
    }

    // MARK: The answer

    private static func refused(_ facts: Facts) -> Finding? {
        guard let headers = facts.headers else { return nil }
        let reason = headers.reason
        guard reason != nil || headers.status.map({ $0 != 200 }) == true else { return nil }
        let shown = reason.map { RequestHeaders.printable($0, limitInBytes: 40) }
        var seen = [
            "headers: APNs answered "
                + [headers.status.map { "\($0)" }, shown].compactMap(\.self).joined(separator: " ").prefix(80)
        ]
        let (byteCount, limit) = (facts.payload.byteCount, PayloadChecks.limitInBytes(facts))
        if reason == "PayloadTooLarge" || headers.status == 413, byteCount <= limit {
            seen.append(
                "payload: \(byteCount) bytes, within the limit of \(limit): another payload was sent than this one")
        }
        if reason?.contains("Environment") == true || reason == "BadDeviceToken" {
            seen +=
                facts.app?.entitlements.compactMap(\.environment).prefix(1).map { "app: aps-environment is \($0)" }
                ?? []
        }
        return Finding(
            .apnsRefused, "APNs refused the push, so no device received it.", seen,
            do: reason.flatMap { answers[$0] }
                ?? "Look up the reason in Apple's page \"Handling notification responses from APNs\".")
    }

    private static let environment =
        "The token, key or certificate is of the other environment, development or production. Builds that Xcode runs "
        + "have tokens for api.sandbox.push.apple.com; TestFlight and the App Store for api.push.apple.com. Let "
        + "the app "
        + "upload its environment with the token, and send to that server."
    private static let bundle =
        "Send apns-topic with the bundle identifier of the app that uploaded this token, not of its extension, and "
        + "use the "
        + "key of the team that owns the app."
    private static let deleted =
        "The app was deleted from the device, or has a newer token. Delete this token, if it was stored before the "
        + "timestamp of the answer: the app uploads its token when it starts."
    private static let provider =
        "Check the key id (kid), the team id (iss), the .p8 file and the server's clock, and make a new provider "
        + "token every "
        + "20 to 60 minutes."
    private static let manyTokens =
        "Make one provider token for all connections and processes of the key, and another one only after 20 minutes: "
        + "some clients make one for each connection."
    private static let later = "Send the push again later, with growing pauses."

    /// What to do about Apple's reasons, except those that say it themselves.
    private static let answers = [
        "BadDeviceToken": environment, "BadEnvironmentKeyInToken": environment,
        "BadCertificateEnvironment": environment,
        "DeviceTokenNotForTopic": bundle, "BadTopic": bundle, "TopicDisallowed": bundle, "MissingTopic": bundle,
        "Unregistered": deleted, "ExpiredToken": deleted, "ExpiredProviderToken": provider,
        "InvalidProviderToken": provider, "MissingProviderToken": provider, "TooManyProviderTokenUpdates": manyTokens,
        "TooManyRequests": later, "InternalServerError": later, "ServiceUnavailable": later, "Shutdown": later,
        "PayloadTooLarge":
            "Give the body of the refused request: a backend or relay may add members after sealing. Move long "
            + "content to "
            + "an attachment or an offloaded payload (docs/attachments.md).",
    ]
}
