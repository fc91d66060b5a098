extension Interleavings {
    /// One run of the system.
    public final class Run {
        private let extent: Extent
        private let replayed: Int
        private let reached: ReachedStates?
        private var history = StepHistory()
        private var sleeping: Set<String> = []
        private var preemptionCount = 0
        private(set) var path: [Point]
        /// The steps so far.
        public private(set) var steps: [Step] = []
        /// Whether an earlier run had the same steps in an order that differs only in steps that commute. The rest of this run
        /// has no choices.
        private(set) var isRepeat = false
        private var hasFreeRest = false

        init(_ extent: Extent, _ path: [Point], _ reached: ReachedStates?) {
            self.extent = extent
            self.path = path
            self.reached = reached
            replayed = path.count
        }

        /// Lets the rest of the run take its steps in one order only, because they don't matter any more.
        public func stopChoosing() { hasFreeRest = true }

        /// Chooses which actor takes its step.
        ///
        /// - Parameter enabled: the next step of each actor that can take one; not empty.
        public func choose(_ enabled: [Step]) throws -> Step {
            let enabled = enabled.sorted { $0.actor < $1.actor }
            let step = try steps.count < replayed ? replay(enabled) : explore(enabled)
            if let last = steps.last, last.actor != step.actor, enabled.contains(where: { $0.actor == last.actor }) {
                preemptionCount += 1
            }
            steps.append(step)
            if reached != nil { history.append(step) }
            return step
        }

        private func replay(_ enabled: [Step]) throws -> Step {
            let point = path[steps.count]
            guard point.actors == enabled.map(\.actor), let step = enabled.first(where: { $0.actor == point.chosen })
            else {
                throw Diverged(expected: point.actors, found: enabled.map(\.actor), steps: steps)
            }
            fallAsleep(point.sleeping.union(point.tried), after: step, enabled)
            return step
        }

        private func explore(_ enabled: [Step]) -> Step {
            let current = enabled.first { $0.actor == steps.last?.actor }
            guard !isRepeat, !hasFreeRest else { return current ?? enabled[0] }
            let state = ReachedStates.State(history: history, current: current?.actor)
            guard reached?.add(state, preemptionCount: preemptionCount) != false else {
                isRepeat = true
                return current ?? enabled[0]
            }
            var candidates = enabled.filter { !sleeping.contains($0.actor) }
            // The actor that took the last step comes first, so that the first order has the fewest switches.
            if let current, let index = candidates.firstIndex(of: current) {
                candidates.remove(at: index)
                candidates.insert(current, at: 0)
                if case .preemptions(let limit) = extent, preemptionCount >= limit { candidates = [current] }
            }
            guard let step = candidates.first else {
                isRepeat = true
                return current ?? enabled[0]
            }
            path.append(
                Point(
                    actors: enabled.map(\.actor), candidates: candidates.map(\.actor), sleeping: sleeping,
                    chosen: step.actor))
            fallAsleep(sleeping, after: step, enabled)
            return step
        }

        /// An actor sleeps as long as only steps are taken that commute with its own: an earlier run took its step first.
        private func fallAsleep(_ actors: Set<String>, after step: Step, _ enabled: [Step]) {
            guard case .all = extent else { return }
            sleeping = Set(enabled.filter { actors.contains($0.actor) && $0.commutes(with: step) }.map(\.actor))
        }
    }
}
