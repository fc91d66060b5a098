import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// Random changes of keysets with real keys. The ids are new in every run. Nothing depends on their order, because each
/// change has a later time.
@Suite struct EditorSequenceTests {
    @Test("random sequences of changes keep every invariant", arguments: 0..<6)
    func randomCommands(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var editing = try Editing()
        var (now, secrets) = (UnixTime.days(0), Set(try editing.secrets()))
        for _ in 0..<60 {
            now = now + Int64.random(in: 1...40 * day, using: &random)
            var editor = KeysetEditor(editing.stored, at: now)
            let before = editor
            do {
                try command(&editor, &random)
                try editing.change(at: now) { $0 = editor }
            } catch is LifecycleError {
                #expect(editor.metadata == before.metadata)
                #expect(editor.events.isEmpty && editor.losses.isEmpty)
            }
            secrets.formUnion(try editing.secrets())
            check(editing)
        }
        let log = AuditLog(lines: editing.lines)
        #expect(log.condition(editing.stored.metadata.audit) == .whole)
        #expect(editing.lines.count > 20)
        #expect(!editing.lines.contains { line in secrets.contains { line.contains($0) } })
    }

    private func check(_ editing: Editing) {
        let timeline = editing.timeline
        let alive = timeline.keys.filter { $0.lifecycle.destroyedAt == nil }.map(\.kid)
        #expect(Set(editing.stored.records.keys) == Set(alive))
        #expect(Set(editing.stored.metadata.traits.keys) == Set(timeline.keys.map(\.kid)))
        #expect(editing.stored.metadata.audit.count == Int64(editing.lines.count))
        #expect(timeline.keys(in: .primary, at: timeline.updatedAt!).count == 1)
    }

    private func command(_ editor: inout KeysetEditor, _ random: inout SplitMix64) throws {
        let kid = editor.metadata.timeline.keys.randomElement(using: &random)!.kid
        let force = Bool.random(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: try editor.add(activatesAt: force ? nil : editor.now + 7 * day)
        case 1: try editor.promote(kid, force: force)
        case 2: try editor.retire(kid)
        case 3: try editor.revoke(kid)
        case 4: try editor.revoke(kid, successor: editor.metadata.timeline.keys.randomElement(using: &random)!.kid)
        case 5: try editor.destroy(kid, force: force)
        case 6: try editor.adopt(policy(&random))
        default:
            let plan = RotationPlan(editor.metadata.timeline, editor.metadata.policy, at: editor.now) { _ in
                RotationPlan.CoverageVerdict(isEnough: true, explanation: "reports")
            }
            _ = try editor.carryOut(plan)
        }
    }

    private func policy(_ random: inout SplitMix64) -> RotationPolicy {
        let rotateEvery = Int64.random(in: 1...365, using: &random) * day
        let isGated = Int.random(in: 0..<4, using: &random) == 0
        return try! RotationPolicy(
            rotateEveryInSeconds: rotateEvery, publishLeadInSeconds: Int64.random(in: 0..<rotateEvery, using: &random),
            overlapInSeconds: Int64.random(in: 0...100, using: &random) * day,
            keep: Int.random(in: 1...4, using: &random),
            requiredCoverage: isGated ? .init(thousandthsOfPercent: 99_900) : nil)
    }
}
