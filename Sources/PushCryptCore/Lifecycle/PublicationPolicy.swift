/// The content of a sender keyset's signed sets beside the keys, and their validity (PROTOCOL section 10).
package struct PublicationPolicy: Hashable, Sendable {
    /// The id of the set, 16 random bytes. Apps pin it, so it never changes.
    package let set: [UInt8]
    /// The apps that the set is for.
    package let topics: [Topic]
    /// Apps accept only sets of the epoch that they pin.
    package let epoch: Int64
    package let validForInSeconds: Int64

    /// - Throws: `KeyError` with `invalidPolicy` if no set could be published with it.
    package init(set: [UInt8], topics: [Topic], epoch: Int64, validForInSeconds: Int64) throws(KeyError) {
        self.set = set
        self.topics = topics
        self.epoch = epoch
        self.validForInSeconds = validForInSeconds
        do throws(KeyError) {
            _ = try publication(sequence: 0, issuedAt: UnixTime(0))
        } catch {
            throw KeyError(.invalidPolicy, error.reason)
        }
    }

    /// The members of a set that is issued at a time.
    ///
    /// - Throws: `KeyError` if a time is outside of the years 0000 to 9999.
    package func publication(sequence: Int64, issuedAt: UnixTime) throws(KeyError) -> SenderSetPublication {
        try SenderSetPublication(
            set: set, topics: topics, epoch: epoch, sequence: sequence, issuedAt: issuedAt,
            validUntil: validUntil(issuedAt: issuedAt))
    }

    package func validUntil(issuedAt: UnixTime) -> UnixTime { issuedAt + validForInSeconds }

    /// When the next set is due: after half of the validity, so that every app that fetches has a valid set for at least the
    /// other half.
    package func renewsAt(issuedAt: UnixTime) -> UnixTime { issuedAt + validForInSeconds / 2 }
}

extension SenderSetPublication {
    package enum Condition: String, Hashable, Sendable {
        case valid
        /// Less than a third of the validity is left.
        case expiring
        /// Apps that haven't fetched a later set verify nothing.
        case expired
    }

    /// The members for apps that pin an earlier epoch; nil doesn't change it.
    ///
    /// - Throws: `KeyError` with `invalidPolicy` for a later epoch.
    package func with(epoch: Int64?) throws(KeyError) -> SenderSetPublication {
        guard let epoch else { return self }
        guard epoch <= self.epoch else {
            throw KeyError(
                .invalidPolicy,
                "the keyset's epoch is \(self.epoch); raise it with `keys policy --publish-epoch \(epoch)` first")
        }
        return try SenderSetPublication(
            set: set, topics: topics, epoch: epoch, sequence: sequence, issuedAt: issuedAt, validUntil: validUntil)
    }

    package func condition(at time: UnixTime) -> Condition {
        guard time < validUntil else { return .expired }
        return validUntil.seconds - time.seconds < (validUntil.seconds - issuedAt.seconds) / 3 ? .expiring : .valid
    }
}

/// ```
/// "publication": {"set": BASE64URL(16 bytes), "topics": [TOPIC, ...], "epoch": n, "validFor": DURATION}
/// ```
extension PublicationPolicy {
    /// - Throws: `KeyError` with `malformed` or `invalidPolicy`.
    package init(_ value: JSONValue) throws(KeyError) {
        let (set, topics, epoch) = try SenderSetPublication.identity(value, of: "the set's publication member")
        guard let validFor = value.duration("validFor") else {
            throw KeyError(.malformed, "validFor of the set's publication member is missing or not a duration")
        }
        try self.init(set: set, topics: topics, epoch: epoch, validForInSeconds: validFor)
    }

    package var json: String {
        "{\(SenderSetPublication.jsonMembers(set: set, topics: topics, epoch: epoch)), "
            + "\"validFor\": \"\(DurationText.iso8601(validForInSeconds))\"}"
    }
}

extension PublicationPolicy {
    /// 60 days.
    private static let standardValidityInSeconds: Int64 = 60 * 86_400
    /// 2 days: a set is renewed when half of its validity has passed, by a daily `rotate`.
    private static let shortestValidityInSeconds: Int64 = 2 * 86_400

    /// The policy after an operator's change. The id is made with the first one and kept.
    ///
    /// - Parameters:
    ///   - old: nil for a keyset without one.
    ///   - topics: all topics; nil to keep them.
    ///   - validForInSeconds: 2 to 90 days; nil to keep it, even if it is shorter, as in files of earlier versions.
    ///   - makeID: makes 16 random bytes.
    /// - Throws: `KeyError` with `invalidPolicy` for a first policy without topics, a shorter validity, or a lower epoch:
    ///   apps of the higher epoch would refuse every further set.
    package init(
        changing old: PublicationPolicy?, topics: [Topic]?, epoch: Int64?, validForInSeconds: Int64?,
        makeID: () throws -> [UInt8]
    ) throws {
        guard let topics = topics ?? old?.topics else {
            throw KeyError(
                .invalidPolicy, "the keyset has no signed set yet: name the apps that it is for with --publish-topic")
        }
        if let old, let epoch, epoch < old.epoch {
            throw KeyError(
                .invalidPolicy,
                "the epoch is \(old.epoch) and never goes down: apps that pin it refuse sets of epoch \(epoch)")
        }
        if let validForInSeconds, validForInSeconds < Self.shortestValidityInSeconds {
            throw KeyError(
                .invalidPolicy,
                "a signed set is valid for at least 2 days: `rotate` renews it when half of that has passed")
        }
        if let validForInSeconds, validForInSeconds > SenderSetPublication.maximumValidityInSeconds {
            throw KeyError(
                .invalidPolicy,
                "a signed set is valid for at most 90 days, not \(DurationText.human(validForInSeconds)): apps refuse a longer one"
            )
        }
        try self.init(
            set: old?.set ?? makeID(), topics: topics, epoch: epoch ?? old?.epoch ?? 1,
            validForInSeconds: validForInSeconds ?? old?.validForInSeconds ?? Self.standardValidityInSeconds)
    }
}
