package import PushCryptCore

/// How much of a fleet holds a key, by the devices' reports.
package struct ReportedCoverage: Hashable, Sendable {
    /// Devices seen in the last 30 days that hold the key.
    package let holding: Int
    /// Devices seen in the last 30 days.
    package let seen: Int
    /// Devices not seen for 30 days. They don't count: waiting for them would mean to wait for ever.
    package let unseen: Int

    package init(holding: Int, seen: Int, unseen: Int) {
        (self.holding, self.seen, self.unseen) = (holding, seen, unseen)
    }

    /// Exact; false where no device was seen.
    package func meets(_ required: RotationPolicy.Coverage) -> Bool {
        required.isMet(holding: holding, seen: seen)
    }
}

extension DeviceReports {
    /// The devices at a moment, by the newest key that each holds.
    package struct Summary: Hashable, Sendable {
        /// Seen in the last 30 days; `newest` and `unknown` together.
        package var seen = 0
        package var unseen = 0
        /// Their newest report lies more than ten minutes ahead of now: no evidence of anything.
        package var ahead = 0
        /// Their newest key is none of the keyset.
        package var unknown = 0
        package var newest = [KeyID: Int]()

        package func coverage(of kid: KeyID, in timeline: KeyTimeline) -> ReportedCoverage {
            let holding = newest.reduce(0) { sum, entry in
                sum + (timeline.implies(entry.key, kid) ? entry.value : 0)
            }
            return ReportedCoverage(holding: holding, seen: seen, unseen: unseen)
        }
    }
}

extension KeyTimeline {
    /// Whether a device whose newest key is `newest` holds `kid` for sure: it's the same, or comes after it both in the
    /// order of sealing and in that of creation.
    ///
    /// Keys are published as they're created, so that who holds a key was offered all that are older. In sealing order
    /// a pending key without activatesAt comes last. The two orders differ where a primary is replaced at once while a
    /// pending key waits: a device may then hold the waiting key and not yet the new primary.
    package func implies(_ newest: KeyID, _ kid: KeyID) -> Bool {
        guard newest != kid else { return key(kid) != nil }
        guard let holder = key(newest), let wanted = key(kid), wanted.order <= holder.order else { return false }
        guard let created = holder.lifecycle.createdAt, let needed = wanted.lifecycle.createdAt else { return true }
        return needed <= created
    }
}

extension KeyTimeline.Key {
    /// The order of sealing, with what waits for an operator behind all that has a time.
    fileprivate var order: (UnixTime, UnixTime, KeyID) {
        let (activatesAt, createdAt, kid) = rank
        return (lifecycle.activatesAt == nil ? UnixTime(.max) : activatesAt, createdAt, kid)
    }
}
