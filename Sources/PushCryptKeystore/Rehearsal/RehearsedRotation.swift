package import PushCryptCore

/// When the keys of a rehearsal come and go, on a clock of its own whose 0 is when key 0 begins to seal.
///
/// ```
/// publication(k) = activation(k) - publishLead
/// activation(k)  = k * rotateEvery
/// expiry(k)      = activation(k + 1) + opensAfterRetiring
/// ```
/// Unlike a ``RotationPolicy`` it may be any: also one whose keys open for less time than PROTOCOL section 9 allows, to
/// see what that would lose.
package struct RehearsedRotation: Hashable, Sendable {
    package var rotateEveryInSeconds: Int64
    package var publishLeadInSeconds: Int64
    package var opensAfterRetiringInSeconds: Int64

    package init(rotateEveryInSeconds: Int64, publishLeadInSeconds: Int64, opensAfterRetiringInSeconds: Int64) {
        self.rotateEveryInSeconds = rotateEveryInSeconds
        self.publishLeadInSeconds = publishLeadInSeconds
        self.opensAfterRetiringInSeconds = opensAfterRetiringInSeconds
    }

    package init(_ policy: RotationPolicy) {
        self.init(
            rotateEveryInSeconds: policy.rotateEveryInSeconds, publishLeadInSeconds: policy.publishLeadInSeconds,
            opensAfterRetiringInSeconds: policy.opensAfterRetiringInSeconds)
    }

    /// The keys whose pushes count; key 0 was there before.
    package static let keys = 1...3

    package func activation(_ key: Int) -> Int64 { Int64(key) * rotateEveryInSeconds }

    package func publication(_ key: Int) -> Int64 { activation(key) - publishLeadInSeconds }

    package func expiry(_ key: Int) -> Int64 { activation(key + 1) + opensAfterRetiringInSeconds }

    /// When the key seals.
    func sealing(_ key: Int) -> Range<Int64> { activation(key)..<activation(key + 1) }

    /// When pushes are sealed that count.
    var measured: Range<Int64> { sealing(Self.keys.lowerBound).lowerBound..<sealing(Self.keys.upperBound).upperBound }

    /// Before and after it nothing matters: neither how long ago beyond 30 days and the lead a device fetched, nor what
    /// happens when the last push has arrived or is lost. It depends on `rotateEvery` alone, so that the same devices
    /// meet every lead and overlap.
    var simulated: Range<Int64> {
        let flight = RotationPolicy.longestFlightInSeconds
        return measured.lowerBound - max(rotateEveryInSeconds, flight)..<measured.upperBound + flight
    }
}
