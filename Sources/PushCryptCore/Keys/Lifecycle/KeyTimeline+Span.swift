extension KeyTimeline {
    /// The times during which all keys are in the same state as at `time`: whoever chose a key then needs no other
    /// before this is over.
    package func span(around time: UnixTime) -> Range<UnixTime> {
        let now = effective(time)
        let moments = keys.flatMap { key in
            let life = key.lifecycle
            return [life.activatesAt, life.retiresAt, life.expiresAt, life.revokedAt].compactMap(\.self)
        }
        let begin = moments.filter { $0 <= now }.max() ?? UnixTime(.min)
        let end = moments.filter { $0 > now }.min() ?? UnixTime(.max)
        // A clock before the last write counts as that write.
        let isFixed = updatedAt.map { begin <= $0 } ?? false
        return (isFixed ? UnixTime(.min) : begin)..<end
    }
}
