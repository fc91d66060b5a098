/// The next step of an actor: what it does until it next lets the test choose.
public struct Step: Hashable, Sendable, CustomStringConvertible {
    /// Something that a step reads or changes: a lock, a file, a clock.
    public struct Use: Hashable, Sendable {
        let resource: String
        let changes: Bool

        public static func reads(_ resource: String) -> Use { Use(resource: resource, changes: false) }
        public static func changes(_ resource: String) -> Use { Use(resource: resource, changes: true) }
    }

    public let actor: String
    public let label: String
    /// nil for a step that may use anything.
    public let uses: [Use]?

    public init(_ actor: String, _ label: String, _ uses: [Use]?) {
        self.actor = actor
        self.label = label
        self.uses = uses
    }

    public var description: String { "\(actor): \(label)" }

    /// Whether both orders of the two steps lead to the same state.
    func commutes(with other: Step) -> Bool {
        guard actor != other.actor, let uses, let others = other.uses else { return false }
        return !uses.contains { use in
            others.contains { $0.resource == use.resource && ($0.changes || use.changes) }
        }
    }

    /// One line for each actor's turn.
    static func lines(_ steps: [Step]) -> String {
        var turns: [(actor: String, labels: [String])] = []
        for step in steps {
            if turns.last?.actor == step.actor {
                turns[turns.count - 1].labels.append(step.label)
            } else {
                turns.append((step.actor, [step.label]))
            }
        }
        return turns.map { "  \($0.actor): \(counted($0.labels))" }.joined(separator: "\n")
    }

    private static func counted(_ labels: [String]) -> String {
        var groups: [(label: String, count: Int)] = []
        for label in labels {
            if groups.last?.label == label {
                groups[groups.count - 1].count += 1
            } else {
                groups.append((label, 1))
            }
        }
        return groups.map { $0.count == 1 ? $0.label : "\($0.label) (\($0.count) times)" }.joined(separator: ", ")
    }
}
