import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import Testing

@testable import PushCryptKeystore

@Suite struct KeysetEditorTests {
    struct Sample: Sendable, CustomStringConvertible {
        let kind: KeyKind
        var type = KeyPairType.p256
        var psk = false
        let suite: KeyAlgorithm

        var description: String { "\(suite.rawValue)\(psk ? " with psk" : "")" }
    }

    @Test(
        "add makes another key with the suite of the newest, and a psk if the newest has one",
        arguments: [
            Sample(kind: .recipient, suite: .p256),
            Sample(kind: .recipient, type: .x25519, suite: .x25519),
            Sample(kind: .recipient, psk: true, suite: .p256),
            Sample(kind: .recipient, type: .x25519, psk: true, suite: .x25519),
            Sample(kind: .shared, suite: .shared), Sample(kind: .sender, suite: .ed25519),
        ])
    func adds(_ sample: Sample) throws {
        var editing = try Editing(sample.kind, type: sample.type, psk: sample.psk)
        let first = editing.primary
        let kid = try editing.change(at: .days(83)) { try $0.add(activatesAt: .days(90)) }.result
        #expect(kid != first)
        #expect(Set(editing.stored.records.keys) == [first, kid])
        #expect(editing.stored.metadata.traits[kid] == .init(suite: sample.suite, demandsPSK: sample.psk))
        #expect(Set(try editing.secrets()).count == (sample.psk ? 4 : 2))
        #expect(editing.stored.metadata.sequence == 2)
        #expect(editing.timeline.updatedAt == .days(83))
        #expect(editing.timeline.key(first)?.lifecycle.retiresAt == .days(90))
    }

    @Test("add refuses a key of another kind") func refusesAnotherKind() throws {
        var editing = try Editing(.shared)
        let senderKey = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        let error = #expect(throws: KeyError.self) {
            try editing.change(at: .days(1)) { try $0.add(senderKey, activatesAt: nil, as: .imported) }
        }
        #expect(error?.code == .wrongKind)
        #expect(editing.timeline.keys.count == 1)
    }

    @Test("add refuses the id of the primary, of a revoked key and of a destroyed key") func refusesAUsedID() throws {
        var editing = try Editing()
        let first = try #require(editing.stored.records[editing.primary])
        for day in 1...3 as ClosedRange<Int64> {
            let refusal = LifecycleError.code {
                try editing.change(at: .days(day)) { try $0.add(first, activatesAt: nil, as: .imported) }
            }
            #expect(refusal == .idTaken)
            if day == 1 { try editing.change(at: .days(day)) { try $0.revoke(first.kid) } }
            if day == 2 { try editing.change(at: .days(day)) { try $0.destroy(first.kid, force: true) } }
        }
        #expect(editing.timeline.state(of: first.kid, at: .days(3)) == .destroyed)
    }

    @Test("revoking the primary makes its successor in the same change") func revokesThePrimary() throws {
        var editing = try Editing(.recipient)
        let old = editing.primary
        let (new, editor) = try editing.change(at: .days(40)) { try $0.revoke(old) }
        #expect(new == editing.primary)
        #expect(editor.events.map(\.action) == [.revoked, .added])
        #expect(editor.events.map(\.kid) == [old, new])
        #expect(editor.losses.count == 2)
        #expect(editing.stored.records[old] != nil)
        #expect(editing.timeline.state(of: old, at: .days(40)) == .revoked)
        #expect(editing.timeline.key(old)?.lifecycle.expiresAt == .days(130) + 600)
    }

    @Test("revoking the primary can promote a pending key") func promotesASuccessor() throws {
        var editing = try Editing()
        let old = editing.primary
        let pending = try editing.change(at: .days(83)) { try $0.add(activatesAt: .days(90)) }.result
        let (new, editor) = try editing.change(at: .days(84)) { try $0.revoke(old, successor: pending) }
        #expect(new == pending)
        #expect(editing.primary == pending)
        #expect(editor.events.map(\.action) == [.revoked, .promoted])
        #expect(editing.timeline.keys.count == 2)
    }

    @Test("revoke refuses a successor that isn't a pending key, and changes nothing") func refusesASuccessor() throws {
        var editing = try Editing()
        let first = editing.primary
        let second = try editing.change(at: .days(1)) { try $0.revoke(first) }.result
        let unknown = try #require(KeyID("AAAAAAAAAAA"))
        var editor = KeysetEditor(editing.stored, at: .days(2))
        for (kid, successor) in [(second!, unknown), (second!, first), (second!, second!)] {
            #expect(throws: LifecycleError.self) { try editor.revoke(kid, successor: successor) }
            #expect(editor.metadata == editing.stored.metadata)
            #expect(editor.events.isEmpty && editor.losses.isEmpty)
        }
        let pending = try editor.add(activatesAt: nil)
        #expect(LifecycleError.code { try editor.revoke(pending, successor: pending) } == .wrongState)
    }

    @Test("revoking a pending key loses no push") func revokesAPendingKey() throws {
        var editing = try Editing()
        let first = editing.primary
        let pending = try editing.change(at: .days(83)) { try $0.add(activatesAt: .days(90)) }.result
        let (new, editor) = try editing.change(at: .days(84)) { try $0.revoke(pending) }
        #expect(new == nil)
        #expect(editor.losses.isEmpty)
        #expect(editing.timeline.key(first)?.lifecycle.retiresAt == nil)
        #expect(editing.primary == first)
    }

    @Test("destroy removes the key's material and keeps its id") func destroys() throws {
        var editing = try Editing(.recipient, psk: true)
        let (first, secrets) = (editing.primary, try editing.secrets())
        try editing.change(at: .days(40)) { try $0.revoke(first) }
        let early = LifecycleError.code { try editing.change(at: .days(130)) { try $0.destroy(first, force: false) } }
        #expect(early == .blocked)
        try editing.change(at: .days(131)) { try $0.destroy(first, force: false) }
        #expect(editing.stored.records[first] == nil)
        let text = String(decoding: try editing.stored.fileText(), as: UTF8.self)
        #expect(secrets.count == 2 && secrets.allSatisfy { !text.contains($0) })
        let read = try KeysetFile(Array(text.utf8), path: "keyset.json")
        #expect(read.metadata == editing.stored.metadata)
        #expect(read.metadata.timeline.key(first)?.lifecycle.destroyedAt == .days(131))
    }

    @Test("finished lets only keys that were revoked or destroyed expire earlier") func excusedKeys() throws {
        var editing = try Editing()
        try editing.change(at: .days(83)) { try $0.add(activatesAt: .days(90)) }
        let pending = try editing.change(at: .days(100)) { try $0.add(activatesAt: nil) }.result
        var editor = KeysetEditor(editing.stored, at: .days(101))
        try editor.destroy(pending, force: true)
        #expect(throws: Never.self) { try editor.finished(by: Editing.actor, at: "Keys/NAME") }
        // As if the old keyset let the retiring key open for longer.
        var old = editing.stored
        old.metadata.timeline.keys[0].lifecycle.expiresAt = .days(500)
        var shorter = KeysetEditor(old, at: .days(101))
        shorter.stored = editor.stored
        let error = #expect(throws: LifecycleError.self) { try shorter.finished(by: Editing.actor, at: "Keys/NAME") }
        #expect(error?.reason.contains("would expire before its time") == true)
    }

    @Test("adopt records a new policy and ignores the current one") func policies() throws {
        var editing = try Editing()
        let pending = try editing.change(at: .days(83)) { try $0.add(activatesAt: .days(90)) }.result
        let same = try editing.change(at: .days(84)) { try $0.adopt(.standard) }.editor
        #expect(same.events.isEmpty)
        #expect(editing.timeline.updatedAt == .days(83))
        let gated = try editing.change(at: .days(85)) { try $0.adopt(.rehearsed(90, lead: 7, coverage: "99.9")) }.editor
        #expect(gated.events.count == 1)
        #expect(gated.events[0].detail?.hasSuffix("; key \(pending) waits to be promoted") == true)
        #expect(editing.stored.metadata.policy.requiredCoverage != nil)
    }

    @Test("a change with an earlier clock has the time of the last change") func earlierClock() throws {
        var editing = try Editing()
        try editing.change(at: .days(400)) { try $0.add(activatesAt: .days(407)) }
        let (kid, editor) = try editing.change(at: .days(10)) { try $0.add(activatesAt: nil) }
        #expect(editor.now == .days(400))
        #expect(editing.timeline.key(kid)?.lifecycle.createdAt == .days(400))
        #expect(editing.timeline.updatedAt == .days(400))
    }

    @Test("a change long after the last one is blocked until an operator confirms the clock, also in a preview")
    func farClock() throws {
        var editing = try Editing()
        let kid = editing.primary
        let late = UnixTime.days(400) + 1
        let changes: [(inout KeysetEditor) throws -> Void] = [
            { try $0.revoke(kid) }, { try $0.adopt(.rehearsed(36_500, lead: 7)) }, { $0.protect(.plaintext, nil) },
        ]
        for change in changes {
            #expect(LifecycleError.code { try editing.change(at: late, change) } == .blocked)
            #expect(
                LifecycleError.code {
                    try KeysetEditor.losses(
                        of: editing.stored.metadata, at: late, by: Actor(name: "ann", reason: nil), in: "app", change)
                } == .blocked)
        }
        #expect(editing.timeline.updatedAt == .days(0))
        try editing.change(at: late, confirmsClock: true) { try $0.revoke(kid) }
        #expect(editing.timeline.updatedAt == late)
        // rotateEvery of one year: three years pass.
        try editing.change(at: late) { try $0.adopt(.rehearsed(365, lead: 7)) }
        #expect(
            LifecycleError.code { try editing.change(at: late + 1_095 * day + 1) { try $0.adopt(.standard) } }
                == .blocked)
        try editing.change(at: late + 1_095 * day) { try $0.adopt(.standard) }
    }

    @Test("the losses of changes are computed without keys") func preview() throws {
        var editing = try Editing()
        let (metadata, first) = (editing.stored.metadata, editing.primary)
        let losses = try KeysetEditor.losses(
            of: metadata, at: .days(5), by: Actor(name: "ann", reason: nil), in: "app"
        ) { try $0.revoke(first) }
        #expect(losses.count == 2)
        let done = try editing.change(at: .days(5)) { try $0.revoke(first) }.editor
        #expect(done.losses == losses)
    }

    /// Carries out a plan every five days for a year and a half.
    @Test("carryOut takes the due steps of a plan") func carriesOutPlans() throws {
        var editing = try Editing()
        var done = [String]()
        for day in stride(from: Int64(0), through: 550, by: 5) {
            let metadata = editing.stored.metadata
            let plan = RotationPlan(metadata.timeline, metadata.policy, at: .days(day))
            let steps = try editing.change(at: .days(day)) { try $0.carryOut(plan) }.result
            done += steps.map { "\(day) \($0.step.action.name)" }
            #expect(editing.stored.records.count == editing.timeline.keys.count { $0.lifecycle.destroyedAt == nil })
        }
        #expect(
            done == [
                "85 add", "175 add", "185 destroy", "265 add", "275 destroy", "355 add", "365 destroy", "445 add",
                "455 destroy", "535 add", "545 destroy",
            ])
    }
}
