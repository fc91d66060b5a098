/// What a signed set of sender keys says about itself: which set it is, for which apps, and how long it is valid.
///
/// ```
/// "pushcrypt": {"seq": n, "set": BASE64URL of 16 bytes, "topics": [TOPIC, ... 1 to 16, distinct], "epoch": n,
///               "issuedAt": TIME, "validUntil": TIME, "keys": {...}}
/// issuedAt < validUntil <= issuedAt + 90 days
/// ```
/// All members are required. `seq` and `epoch` are integers of 0 to 2^53 - 1, TIME is RFC 3339.
package struct SenderSetPublication: Hashable, Sendable {
    /// The id of the set, 16 bytes: random, made with the keyset, and never changed.
    package let set: [UInt8]
    /// The apps that the set is for, 1 to 16.
    package let topics: [Topic]
    /// The epoch that the apps pin.
    package let epoch: Int64
    /// The number of this publication. It grows with every publication of the epoch.
    package let sequence: Int64
    package let issuedAt: UnixTime
    package let validUntil: UnixTime

    package static let setByteCount = 16
    package static let maximumTopicCount = 16
    /// The longest time between `issuedAt` and `validUntil`, in seconds: 90 days.
    package static let maximumValidityInSeconds: Int64 = 90 * 86_400

    /// - Throws: `KeyError` with `malformed` for a value out of its bounds, `tooLarge` for more than 16 topics.
    package init(
        set: [UInt8], topics: [Topic], epoch: Int64, sequence: Int64, issuedAt: UnixTime, validUntil: UnixTime
    ) throws(KeyError) {
        func require(_ condition: Bool, _ reason: String) throws(KeyError) {
            guard condition else { throw KeyError(.malformed, "the set's \(reason)") }
        }
        let range = UnixTime.protocolRange
        try require(set.count == Self.setByteCount, "member set is not \(Self.setByteCount) bytes")
        try require(!topics.isEmpty, "topics name no app")
        guard topics.count <= Self.maximumTopicCount else {
            throw KeyError(
                .tooLarge, "the set names \(topics.count) topics; at most \(Self.maximumTopicCount) are allowed")
        }
        try require(Set(topics).count == topics.count, "topics name an app twice")
        try require(range.contains(epoch), "epoch is not an integer of 0 to 2^53 - 1")
        try require(range.contains(sequence), "seq is not an integer of 0 to 2^53 - 1")
        // Both times must be writable as RFC 3339.
        try require(
            UnixTime.rfc3339Range.contains(issuedAt) && UnixTime.rfc3339Range.contains(validUntil),
            "issuedAt or validUntil is not a time of the years 0 to 9999")
        try require(issuedAt < validUntil, "validUntil \(validUntil) is not after its issuedAt \(issuedAt)")
        try require(
            validUntil.seconds - issuedAt.seconds <= Self.maximumValidityInSeconds,
            "validUntil \(validUntil) is more than 90 days after its issuedAt \(issuedAt)")
        self.set = set
        self.topics = topics
        self.epoch = epoch
        self.sequence = sequence
        self.issuedAt = issuedAt
        self.validUntil = validUntil
    }
}

extension SenderSetPublication {
    /// - Parameter member: the set's `pushcrypt` member.
    /// - Throws: `KeyError` with `malformed`, `tooLarge`, `invalidTopic`.
    package init(_ member: JSONValue) throws(KeyError) {
        guard let set = member["set"]?.utf8.flatMap(Base64URL.decode) else {
            throw KeyError(.malformed, "member set of the signed set is missing or not base64url")
        }
        guard let epoch = member["epoch"]?.protocolInteger, let sequence = member["seq"]?.protocolInteger else {
            throw KeyError(.malformed, "the set's epoch or seq is missing or not an integer of 0 to 2^53 - 1")
        }
        guard let list = member["topics"], list.kind == .array else {
            throw KeyError(.malformed, "topics of the signed set are missing or not an array")
        }
        var topics = [Topic]()
        for element in list.elements {
            guard let text = element.string else {
                throw KeyError(.malformed, "a topic of the signed set is not a string")
            }
            topics.append(try Topic(text))
        }
        guard let issuedAt = try member.time("issuedAt"), let validUntil = try member.time("validUntil") else {
            throw KeyError(.malformed, "the set's issuedAt or validUntil is missing")
        }
        try self.init(
            set: set, topics: topics, epoch: epoch, sequence: sequence, issuedAt: issuedAt, validUntil: validUntil)
    }

    /// All members but `seq` and `keys`, which the set itself writes. A topic needs no escapes.
    var jsonMembers: String {
        let names = topics.map { "\"\($0)\"" }.joined(separator: ", ")
        return "\"set\": \"\(Base64URL.encode(set))\", \"topics\": [\(names)], \"epoch\": \(epoch), "
            + "\"issuedAt\": \"\(issuedAt)\", \"validUntil\": \"\(validUntil)\""
    }
}

extension SenderSetPublication {
    package enum Condition: String, Hashable, Sendable {
        case valid
        /// Less than a third of the validity is left.
        case expiring
        /// Apps that haven't fetched a later set verify nothing.
        case expired
    }

    package func condition(at time: UnixTime) -> Condition {
        guard time < validUntil else { return .expired }
        return validUntil.seconds - time.seconds < (validUntil.seconds - issuedAt.seconds) / 3 ? .expiring : .valid
    }
}
