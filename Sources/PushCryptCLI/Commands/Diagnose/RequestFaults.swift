import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the request to APNs and its answer show.
enum RequestFaults {
    static let all: [Detector] = [
        topicWhiteSpace, topicImpossible, topicIsExtension, topicMayBeExtension, topicMissing, topicDiffers,
        pushTypeMissing,
        pushTypeWrong, priority,
        expirationInvalid, expirationInMilliseconds, expirationPassed, expirationZero, expirationAfterMessage,
        collapseID,
        refused,
    ]

    /// The topics that may be an extension's, with their places.
    private static func named(_ evidence: Evidence) -> [(place: String, topic: String)] {
        [
            ("headers: apns-topic", evidence.headers?.topic), ("--topic", evidence.topic),
            ("report: topic", evidence.report?.topic),
        ].compactMap { place, topic in topic.map { (place, $0) } }
    }

    /// A push with a wrong topic is refused, or doesn't open.
    private static let wrongTopic: [Symptom] = [.noPush, .failure(.undecryptable)]

    /// Whether `name` looks like the identifier of an extension of the app: it begins with the app's and a dot. Other
    /// such names are those of a beta, or the topics of other kinds of pushes, such as `.voip`.
    static func isExtension(_ name: String, of app: String) -> Bool {
        guard name.hasPrefix(app + ".") else { return false }
        let last = name.dropFirst(app.count + 1).lowercased()
        return !last.contains(".") && ["extension", "service", "notif", "nse"].contains { last.contains($0) }
            || last == "push"
    }

    private static func topicWhiteSpace(_ evidence: Evidence) -> Fault? {
        guard let topic = evidence.headers?.topic, topic != topic.withoutOuterWhiteSpace else { return nil }
        let others = [evidence.topic, evidence.report?.topic, evidence.app?.app?.identifier].compactMap(\.self)
        let isOnlyDifference = others.allSatisfy { $0.isEmpty || $0 == topic.withoutOuterWhiteSpace }
        return Fault(
            "topic-white-space", "The apns-topic has white space around it, so for APNs it is another app's topic.",
            ["headers: apns-topic is \(RequestHeaders.printable(topic))"],
            do: "Look for a space or a line break in the setting or the file from which your backend reads the topic.",
            hides: ["apns-device-token-not-for-topic", "apns-bad-topic", "apns-topic-disallowed"]
                + (isOnlyDifference ? ["topic-differs"] : []), explains: [.noPush])
    }

    private static func topicImpossible(_ evidence: Evidence) -> Fault? {
        guard let topic = evidence.headers?.topic?.withoutOuterWhiteSpace, !topic.isEmpty,
            (try? Topic(option: topic)) == nil
        else { return nil }
        let hasOther = !topic.utf8.allSatisfy { $0.isAlphanumeric || $0.isOne(of: ".-") }
        let flaw =
            hasOther
            ? "a character other than A-Z a-z 0-9 . -"
            : Topic.hasEmptyPart(topic)
                ? "two dots in a row, or a dot at an end" : "\(topic.count) characters; 155 are allowed"
        return Fault(
            "topic-impossible", "No app can have the apns-topic as its bundle identifier, so APNs refuses it.",
            ["headers: apns-topic has \(flaw)"],
            do: "Send the app's bundle identifier as the built app has it. In it, Xcode replaces other characters by "
                + "hyphens.",
            hides: [
                "topic-differs", "apns-device-token-not-for-topic", "apns-bad-topic", "apns-topic-disallowed",
            ], explains: wrongTopic)
    }

    private static func topicIsExtension(_ evidence: Evidence) -> Fault? {
        let apps = [
            evidence.report?.topic, evidence.app?.app?.identifier, evidence.topic, evidence.trial?.otherTopic,
        ].compactMap(\.self)
        let service = evidence.app?.service?.identifier
        for (place, name) in named(evidence) {
            guard name == service || apps.contains(where: { isExtension(name, of: $0) }) else { continue }
            let app = apps.first { isExtension(name, of: $0) } ?? "the app's bundle identifier"
            return Fault(
                "topic-is-extension",
                "The topic is the bundle identifier of the extension. It must be that of the app.",
                ["\(place) is \(RequestHeaders.printable(name))", "the app is \(app)"],
                do: "Use \(app) as the topic everywhere: in apns-topic, where your backend seals, and in the "
                    + "extension (there Bundle.main is the extension, not the app).",
                hides: [
                    "topic-differs", "sealed-for-another-topic", "apns-device-token-not-for-topic", "apns-bad-topic",
                    "apns-topic-disallowed",
                ], explains: wrongTopic)
        }
        if let name = evidence.trial?.otherTopic, let app = evidence.expectedTopic, isExtension(name, of: app) {
            return Fault(
                "topic-is-extension",
                "The push was sealed for the bundle identifier of the extension. It must be that of the app.",
                ["the push opens with the topic \(name)", "the app is \(app)"],
                do: "Use \(app) as the topic where your backend seals.", hides: ["sealed-for-another-topic"],
                explains: [.failure(.undecryptable)])
        }
        return nil
    }

    /// The topic looks like an extension's, and no input names the app.
    private static func topicMayBeExtension(_ evidence: Evidence) -> Fault? {
        let app = evidence.app?.app?.identifier
        guard topicIsExtension(evidence) == nil,
            let (place, name) = named(evidence).first(where: { $0.topic != app && Topic.looksLikeExtension($0.topic) })
        else { return nil }
        // The device opens pushes with the topic of its report.
        let isUsed = name == evidence.report?.topic && evidence.hasFailed(.undecryptable)
        return Fault(
            isUsed ? .error : .warning, "topic-may-be-extension",
            "The topic looks like the bundle identifier of an extension. It must be that of the app.",
            ["\(place) is \(RequestHeaders.printable(name))"],
            do: "Look up the app's bundle identifier in Xcode"
                + evidence.asking(for: .topic, .app) { ", and give it with \($0)" } + ". "
                + "In the extension, Bundle.main is the extension, not the app.", explains: wrongTopic)
    }

    private static func topicMissing(_ evidence: Evidence) -> Fault? {
        guard let headers = evidence.headers, headers.hasRequest, headers.topic == nil, headers.status != 200,
            headers.reason == nil || headers.reason == "MissingTopic"
        else { return nil }
        return Fault(
            "topic-missing", "The request has no apns-topic. With a provider token (.p8) APNs refuses it.",
            ["headers: no apns-topic"],
            do: "Send apns-topic with the app's bundle identifier"
                + (evidence.payload.isOfLiveActivity ? " and .push-type.liveactivity." : "."),
            hides: ["apns-missing-topic"], explains: [.noPush])
    }

    private static func topicDiffers(_ evidence: Evidence) -> Fault? {
        let named = [
            ("headers: apns-topic is", evidence.headers?.topic), ("--topic is", evidence.topic),
            ("report: the app's topic is", evidence.report?.topic),
            ("app: CFBundleIdentifier is", evidence.app?.app?.identifier),
        ].compactMap { place, name in name.flatMap { $0.isEmpty ? nil : (place, $0) } }
        guard Set(named.map(\.1)).count > 1, !evidence.payload.isOfLiveActivity else { return nil }
        return Fault(
            "topic-differs",
            "Backend and app use different topics. A push opens only with the topic that it was sealed for.",
            named.map { "\($0) \(RequestHeaders.printable($1))" },
            do:
                "Use the app's bundle identifier everywhere, with the same capital letters: in apns-topic, where your "
                + "backend seals, and in the extension.",
            hides: [
                "apns-device-token-not-for-topic", "apns-bad-topic", "apns-topic-disallowed",
                "sealed-for-another-topic",
            ], explains: wrongTopic)
    }

    private static func pushTypeMissing(_ evidence: Evidence) -> Fault? {
        guard let headers = evidence.headers, headers.hasRequest, headers.pushType == nil else { return nil }
        return Fault(
            "push-type-missing",
            "The request has no apns-push-type. APNs may delay or drop such a push, or treat it as a background push.",
            ["headers: no apns-push-type"],
            do: "Send apns-push-type: \(evidence.payload.isOfLiveActivity ? "liveactivity" : "alert").",
            explains: [.noPush])
    }

    private static func pushTypeWrong(_ evidence: Evidence) -> Fault? {
        guard let type = evidence.headers?.pushType, type != "alert", !evidence.payload.isOfLiveActivity else {
            return nil
        }
        return Fault(
            "push-type-wrong",
            "The push isn't sent as an alert, so iOS doesn't run the "
                + "extension\(type == "background" ? " and shows nothing" : "").",
            ["headers: apns-push-type is \(RequestHeaders.printable(type, limitInBytes: 16))"],
            do: "Send apns-push-type: alert.",
            hides: ["apns-invalid-push-type"], explains: [.noPush])
    }

    private static func priority(_ evidence: Evidence) -> Fault? {
        guard let priority = evidence.headers?.priority else { return nil }
        if priority == "10" { return nil }
        guard ["1", "5"].contains(priority) else {
            return Fault(
                "priority-invalid", "APNs refuses this priority.",
                ["headers: apns-priority is \(RequestHeaders.printable(priority, limitInBytes: 4))"],
                do: "Send apns-priority: 10.", hides: ["apns-bad-priority"], explains: [.noPush])
        }
        return Fault(
            .note, "priority-low", "The push has a low priority: the device may receive it later, to save power.",
            ["headers: apns-priority is \(priority)"], do: "Send apns-priority: 10 if it should be shown at once.")
    }

    private static func expirationInvalid(_ evidence: Evidence) -> Fault? {
        guard let headers = evidence.headers, let value = headers["apns-expiration"], headers.expiration == nil else {
            return nil
        }
        return Fault(
            "expiration-invalid", "The apns-expiration isn't a whole number, so APNs refuses the push or drops it.",
            ["headers: apns-expiration is \(RequestHeaders.printable(value, limitInBytes: 32))"],
            do: "Send seconds since 1970, without a fraction, an exponent or the name of a month.",
            hides: ["apns-bad-expiration-date"], explains: [.noPush])
    }

    private static func expirationInMilliseconds(_ evidence: Evidence) -> Fault? {
        guard let expiration = evidence.headers?.expiration, expiration > UnixTime.latestSeconds else { return nil }
        return Fault(
            "expiration-in-milliseconds",
            "The apns-expiration is in milliseconds: as seconds it is a time thousands of years ahead.",
            ["headers: apns-expiration has \("\(expiration)".count) digits; seconds since 1970 have 10"],
            do: "Send seconds since 1970: divide by 1000. A JavaScript Date counts milliseconds.",
            hides: ["apns-bad-expiration-date"])
    }

    private static func expirationPassed(_ evidence: Evidence) -> Fault? {
        guard let expiration = evidence.headers?.expiration, expiration != 0, UnixTime(expiration) <= evidence.time
        else {
            return nil
        }
        let isDuration = expiration < 1_000_000_000
        return Fault(
            isDuration ? .error : .warning, "expiration-passed",
            isDuration
                ? "APNs drops the push: its apns-expiration is a duration, and so a time that has passed."
                : "The push's apns-expiration has passed. If it had when the push was sent, APNs dropped the push.",
            ["headers: apns-expiration is \(UnixTime(expiration)), now is \(evidence.time)"],
            do: "Send the time at which the push becomes useless, in seconds since 1970, not a duration.",
            hides: isDuration ? ["apns-bad-expiration-date"] : [], explains: [.noPush])
    }

    /// APNs may deliver the push when the device no longer shows it (PROTOCOL section 2).
    private static func expirationAfterMessage(_ evidence: Evidence) -> Fault? {
        guard let expiration = evidence.headers?.expiration, let end = evidence.trial?.header?.expiresAt,
            expiration <= UnixTime.latestSeconds, UnixTime(expiration) > end
        else { return nil }
        return Fault(
            .warning, "expiration-after-message",
            "The apns-expiration is later than the end of the message: between them APNs delivers a push that the device "
                + "shows as the placeholder.",
            ["headers: apns-expiration is \(UnixTime(expiration))", "the sealed message: it expires at \(end)"],
            do: "Send the apns-expiration that sealing returns, or an earlier one.")
    }

    private static func expirationZero(_ evidence: Evidence) -> Fault? {
        guard evidence.headers?.expiration == 0 else { return nil }
        return Fault(
            .note, "push-not-stored", "APNs tries only once: a device that is off line never receives this push.",
            ["headers: apns-expiration is 0"], do: "Send a later time if the push should wait for the device.")
    }

    private static func collapseID(_ evidence: Evidence) -> Fault? {
        guard let id = evidence.headers?.collapseID, id.utf8.count > 64 else { return nil }
        return Fault(
            "collapse-id-too-long", "APNs refuses the push: its apns-collapse-id is too long.",
            ["headers: apns-collapse-id has \(id.utf8.count) bytes; 64 are allowed"],
            do: "Use an id of at most 64 bytes.",
            hides: ["apns-bad-collapse-id"], explains: [.noPush])
    }

    private static func refused(_ evidence: Evidence) -> Fault? {
        guard let headers = evidence.headers else { return nil }
        let reason = headers.reason
        guard reason != nil || headers.status.map({ $0 != 200 }) == true else { return nil }
        let shownReason = reason.map { RequestHeaders.printable($0, limitInBytes: 40) }
        let answer = [headers.status.map { "\($0)" }, shownReason].compactMap(\.self).joined(separator: " ")
        let known = reason.flatMap { answers[$0] }
        let environment = evidence.app?.entitlements.compactMap(\.environment).first.map {
            "app: aps-environment is \($0)"
        }
        let needsEnvironment = reason.map(Self.aboutEnvironment.contains) ?? false
        let name = reason.map { "apns-" + kebab($0) } ?? "apns-refused"
        let (byteCount, limit) = (evidence.payload.byteCount, PayloadFaults.limitInBytes(evidence))
        let isOther = (reason == "PayloadTooLarge" || headers.status == 413) && byteCount <= limit
        return Fault(
            answers[reason ?? ""] == nil ? "apns-refused" : name,
            isOther
                ? "APNs refused the payload as too large, but this one isn't: another payload was sent than this one."
                : known?.cause ?? "APNs refused the push, so no device received it.",
            ["headers: APNs answered \(answer.prefix(80))"]
                + (isOther ? ["payload: \(byteCount) bytes, within the limit of \(limit)"] : [])
                + (needsEnvironment ? [environment].compactMap(\.self) : []),
            do: isOther
                ? "Give the body of the refused request. If your backend or a relay adds members after sealing, it is "
                    + "larger than what was sealed."
                : known?.advice ?? "Look up the reason in Apple's page \"Handling notification responses from APNs\".",
            explains: [.noPush])
    }

    private static let aboutEnvironment = ["BadDeviceToken", "BadEnvironmentKeyInToken", "BadCertificateEnvironment"]

    /// `BadDeviceToken` becomes `bad-device-token`.
    private static func kebab(_ name: String) -> String {
        var text = ""
        for character in name {
            if character.isUppercase, !text.isEmpty { text += "-" }
            text += character.lowercased()
        }
        return text
    }
}
