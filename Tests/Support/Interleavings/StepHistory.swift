/// What led to a state: the steps taken, and of each two that don't commute, which came first.
///
/// ```
/// event      hash(actor, the actor's last event, the last step that may use anything,
///                 for each use: the last change of the resource; for a change also the reads since)
/// history    the sum of the events
/// ```
/// Two orders with the same history differ only in steps that commute, so they lead to the same state (Mazurkiewicz 1986).
/// Locks are numbered by their first use, which differs between such orders. So an event contains no names of resources and
/// no labels: what an actor does next follows from the events before it.
struct StepHistory: Hashable {
    /// 128 bits, so that different histories don't have the same sum by accident.
    private typealias Event = SIMD2<Int>

    private var sum = Event()
    private var latest: [String: Event] = [:]
    private var changes: [String: Event] = [:]
    private var reads: [String: Event] = [:]
    private var barrier = Event()

    mutating func append(_ step: Step) {
        var causes = [latest[step.actor] ?? Event(), barrier]
        if let uses = step.uses {
            // The order in which a step names its uses has no meaning.
            var used = Event()
            for use in uses {
                let read = use.changes ? reads[use.resource] ?? Event() : Event()
                used &+= Self.event(step.actor, [changes[use.resource] ?? Event(), read])
            }
            causes.append(used)
        } else {
            causes.append(sum)
        }
        let event = Self.event(step.actor, causes)
        sum &+= event
        latest[step.actor] = event
        guard let uses = step.uses else {
            barrier = event
            return
        }
        for use in uses {
            if use.changes {
                changes[use.resource] = event
                reads[use.resource] = nil
            } else {
                reads[use.resource, default: Event()] &+= event
            }
        }
    }

    private static func event(_ actor: String, _ causes: [Event]) -> Event {
        func hash(_ first: Int) -> Int {
            var hasher = Hasher()
            hasher.combine(first)
            hasher.combine(actor)
            hasher.combine(causes)
            return hasher.finalize()
        }
        return Event(hash(0), hash(1))
    }

    static func == (left: StepHistory, right: StepHistory) -> Bool { left.sum == right.sum }
    func hash(into hasher: inout Hasher) { hasher.combine(sum) }
}

/// The states that the runs of a walk have reached.
///
/// A run that reaches a state a second time, with no more preemptions left than before, is cut off: an earlier run went on
/// from there, and the walk has tried every order after it before it goes back. What may follow depends on the state, on the
/// preemptions that are left, and on the actor that took the last step if it can take the next one: to choose another one is
/// a preemption. (Musuvathi and Qadeer 2007, section 5.)
final class ReachedStates {
    struct State: Hashable {
        let history: StepHistory
        /// The actor that took the last step; nil if it can't take the next one.
        let current: String?
    }

    private var preemptionCounts: [State: Int] = [:]

    /// - Returns: false if the state was reached with at most so many preemptions.
    func add(_ state: State, preemptionCount: Int) -> Bool {
        if let known = preemptionCounts[state], known <= preemptionCount { return false }
        preemptionCounts[state] = preemptionCount
        return true
    }
}
