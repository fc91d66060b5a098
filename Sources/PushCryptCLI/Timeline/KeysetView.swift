import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// A keyset as it can be seen without any secret.
struct KeysetView {
    let path: String
    let metadata: KeysetMetadata
    /// nil for a FILE, which has no policy and no history of its own.
    let folder: KeysetFolder?
    let clock: UnixTime
    /// The time that states are told for: the clock, but no earlier than the last change.
    let now: UnixTime
    /// In the order of the file, which is the order in which keys came.
    let lives: [KeyLife]
    /// nil where nobody rotates: a FILE, the published demo keys.
    let plan: RotationPlan?

    /// - Throws: `KeystoreError`, `KeyError`, `Failure` for what isn't a keyset.
    init(_ path: String, at time: UnixTime) throws {
        let metadata = try KeySource.metadata(of: path)
        self.init(path, metadata, isFile: !FileSystem.isFolder(path), at: time)
    }

    init(_ path: String, _ metadata: KeysetMetadata, isFile: Bool, at time: UnixTime) {
        let folder = isFile ? nil : KeysetFolder(path)
        let timeline = metadata.timeline
        let lives = zip(timeline.keys, timeline.phases()).map { key, phases in
            KeyLife(key, phases, metadata, at: time)
        }
        self.path = folder?.path ?? path
        self.metadata = metadata
        self.folder = folder
        clock = time
        now = timeline.effective(time)
        self.lives = lives
        let isDemo = DemoKeys.covers(timeline.keys.map(\.kid))
        plan = isFile || isDemo ? nil : RotationPlan(metadata.timeline, metadata.policy, at: time)
    }

    /// Those that are destroyed last.
    var listed: [KeyLife] { lives.filter { $0.state != .destroyed } + lives.filter { $0.state == .destroyed } }

    /// Said where the clock is before the last change.
    var clockNote: String { "\(clock) is before the last change; shown is the time of that" }

    /// For a FILE nil, and for the published demo keys.
    var policy: RotationPolicy? { plan == nil ? nil : metadata.policy }

    func life(_ kid: String) -> KeyLife? { lives.first { $0.kid.description == kid } }

    var primary: KeyLife? { lives.first { $0.state == .primary } }

    /// The key that the policy asks for next: the step and what its life will be; nil for none.
    var successor: (step: RotationPlan.Step, phases: [KeyPhase])? {
        guard let plan else { return nil }
        for step in plan.due + plan.blocked + [plan.next].compactMap(\.self) {
            guard case .add(let activatesAt) = step.action else { continue }
            let pending = KeyPhase(.pending, from: max(step.dueAt, now), to: activatesAt)
            return (step, [pending] + (activatesAt.map { [KeyPhase(.primary, from: $0, to: nil)] } ?? []))
        }
        return nil
    }
}
