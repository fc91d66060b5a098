/// Walks the orders in which the actors of a system can take their steps: it runs the system once for each order.
///
/// ```
/// run        the system starts from its first state; at each point the walk chooses which actor takes its next step
/// violation  the run throws: the walk ends, with the steps of that run
/// next       go back to the last point with an actor that wasn't tried, and run again up to that point
/// ```
/// A run must depend only on the choices: clocks, random numbers and names come from the test.
public struct Interleavings {
    /// Which orders the walk runs.
    public enum Extent: Sendable, CustomStringConvertible {
        /// Every order. Of orders that differ only in steps that commute, it runs one (sleep sets, Godefroid 1996).
        case all
        /// Every order in which at most so many steps interrupt an actor that could continue (Musuvathi and Qadeer 2007).
        case preemptions(Int)

        public var description: String {
            switch self {
            case .all: "every order, once per class of orders that differ only in steps that commute"
            case .preemptions(let count): "every order with at most \(count) preemption\(count == 1 ? "" : "s")"
            }
        }
    }

    /// What a walk ran.
    public struct Count: Sendable, CustomStringConvertible {
        /// How many orders ran to their end.
        public internal(set) var orders = 0
        /// How many runs were cut off, because a run that differs only in steps that commute had reached the same state.
        public internal(set) var repeats = 0
        /// How many points with a choice or a forced step were reached for the first time.
        public internal(set) var states = 0
        /// The steps of the longest run.
        public internal(set) var depth = 0

        public var description: String {
            "\(orders) interleavings, \(states) states, at most \(depth) steps, \(repeats) runs cut off as repeats"
        }
    }

    /// An order of steps that breaks an invariant.
    public struct Violation: Error, CustomStringConvertible {
        public let steps: [Step]
        public let cause: any Error

        public var description: String { "\(cause)\n\(Step.lines(steps))" }
    }

    /// The run asked for other steps than an earlier run with the same choices: it depends on something else.
    public struct Diverged: Error, CustomStringConvertible {
        let expected: [String]
        let found: [String]
        let steps: [Step]

        public var description: String {
            "the same choices led to \(found) and before to \(expected)\n\(Step.lines(steps))"
        }
    }

    private let extent: Extent
    private let joinsStates: Bool

    /// - Parameter joinsStates: whether a walk with bounded preemptions runs the orders that follow a state only once, see
    ///   ``ReachedStates``. Then, as for ``Extent/all``, each step must name everything that it uses.
    public init(_ extent: Extent, joinsStates: Bool = false) {
        self.extent = extent
        self.joinsStates = joinsStates
    }

    /// Runs every order of the extent.
    ///
    /// - Parameter run: runs the system once and throws if an invariant is broken.
    /// - Throws: ``Violation``, ``Diverged``.
    public func walk(_ run: (Run) throws -> Void) throws -> Count {
        var count = Count()
        var path: [Point] = []
        let reached = reachedStates
        repeat {
            let current = Run(extent, path, reached)
            do {
                try run(current)
            } catch let error as Diverged {
                throw error
            } catch {
                throw Violation(steps: current.steps, cause: error)
            }
            guard current.steps.count >= path.count else {
                throw Diverged(expected: path[current.steps.count].actors, found: [], steps: current.steps)
            }
            count.states += current.path.count - path.count
            count.depth = max(count.depth, current.steps.count)
            if current.isRepeat { count.repeats += 1 } else { count.orders += 1 }
            path = current.path
        } while Self.advance(&path)
        return count
    }

    /// Sleep sets need none: with them no order runs twice.
    private var reachedStates: ReachedStates? {
        guard joinsStates, case .preemptions = extent else { return nil }
        return ReachedStates()
    }

    /// Finds a violation with as few preemptions as possible.
    public static func simplestViolation(
        preemptions: ClosedRange<Int> = 0...3, _ run: (Run) throws -> Void
    ) throws -> Violation? {
        for limit in preemptions {
            do {
                _ = try Interleavings(.preemptions(limit)).walk(run)
            } catch let violation as Violation {
                return violation
            }
        }
        return nil
    }

    /// Goes back to the last point with an actor that wasn't tried.
    ///
    /// - Returns: false if there is none.
    private static func advance(_ path: inout [Point]) -> Bool {
        while var point = path.popLast() {
            point.tried.insert(point.chosen)
            if let next = point.candidates.first(where: { !point.tried.contains($0) }) {
                point.chosen = next
                path.append(point)
                return true
            }
        }
        return false
    }

    /// A point of a run at which an actor was chosen.
    struct Point {
        let actors: [String]
        /// The actors that the walk chooses here, one after the other.
        let candidates: [String]
        /// The actors whose step here leads to orders that were run elsewhere.
        let sleeping: Set<String>
        var chosen: String
        var tried: Set<String> = []
    }
}
