import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

@Suite("publisher keys in the editor")
struct PublisherKeysTests {
    /// A keyset with this number of publisher keys.
    private static func editing(_ count: Int = 1) throws -> Editing {
        var editing = try Editing(.publisher)
        for number in 1..<max(count, 2) where number < count {
            try editing.change(at: .days(Int64(number))) { try $0.add(activatesAt: nil) }
        }
        return editing
    }

    private static func kids(_ editing: Editing) -> [KeyID] { editing.timeline.keys.map(\.kid) }

    @Test("An added key signs beside the others, and time never ends one")
    func added() throws {
        let editing = try Self.editing(4)
        for day in [3, 100, 36_500] as [Int64] {
            for kid in Self.kids(editing) {
                #expect(editing.timeline.state(of: kid, at: .days(day))?.opens == true, "\(day)")
            }
        }
    }

    @Test("A fifth key is refused until one is destroyed")
    func limit() throws {
        var editing = try Self.editing(4)
        #expect(
            LifecycleError.code { try editing.change(at: .days(9)) { try $0.add(activatesAt: nil) } } == .wrongState)
        let kid = Self.kids(editing)[2]
        try editing.change(at: .days(9)) { try $0.destroy(kid, force: true) }
        try editing.change(at: .days(10)) { try $0.add(activatesAt: nil) }
        #expect(editing.stored.records.count == 4)
    }

    @Test("A key with a time is refused, because it would end another one")
    func activation() throws {
        var editing = try Self.editing()
        #expect(
            LifecycleError.code { try editing.change(at: .days(9)) { try $0.add(activatesAt: .days(16)) } }
                == .wrongState)
    }

    @Test(
        "promote, retire, revoke and a policy are refused and change nothing", arguments: [0, 1], [true, false])
    func refused(_ index: Int, _ force: Bool) throws {
        let editing = try Self.editing(2)
        let kid = Self.kids(editing)[index]
        let changes: [(inout KeysetEditor) throws -> Void] = [
            { try $0.promote(kid, force: force) }, { try $0.retire(kid) }, { try $0.revoke(kid) },
            { try $0.adopt(.rehearsed(30, lead: 7)) },
        ]
        for change in changes {
            var editor = KeysetEditor(editing.stored, at: .days(9))
            #expect(LifecycleError.code { try change(&editor) } == .wrongState)
            #expect(editor.metadata == editing.stored.metadata && editor.events.isEmpty)
        }
    }

    @Test("The only key can't be destroyed, not even by force")
    func onlyKey() throws {
        var editing = try Self.editing()
        let kid = editing.primary
        #expect(
            LifecycleError.code { try editing.change(at: .days(9)) { try $0.destroy(kid, force: true) } }
                == .invariantBroken)
    }

    @Test("Destroying the primary makes the oldest other key the primary in the same change")
    func destroyedPrimary() throws {
        var editing = try Self.editing(3)
        let kids = Self.kids(editing)
        #expect(
            LifecycleError.code { try editing.change(at: .days(9)) { try $0.destroy(kids[0], force: false) } }
                == .blocked)
        let editor = try editing.change(at: .days(9)) { try $0.destroy(kids[0], force: true) }.editor
        #expect(editor.events.map(\.action) == [.promoted, .destroyed])
        #expect(editor.losses.count == 1)
        #expect(editing.primary == kids[1])
        #expect(Set(editing.stored.records.keys) == Set(kids[1...]))
        #expect(editing.timeline.state(of: kids[2], at: .days(36_500)) == .pending)
    }

    @Test("Only sender keys are published in a signed set", arguments: [KeyKind.recipient, .shared, .publisher])
    func publishing(_ kind: KeyKind) throws {
        let editing = try Editing(kind)
        var editor = KeysetEditor(editing.stored, at: .days(9))
        let error = #expect(throws: KeyError.self) {
            try editor.publish(topics: [Topic("a")], epoch: nil, validForInSeconds: nil)
        }
        #expect(error?.code == .wrongKind)
        #expect(editor.events.isEmpty)
    }

    @Test("The first publication makes a random id, and a later one keeps it")
    func setID() throws {
        var ids = Set<[UInt8]>()
        for _ in 0..<2 {
            var editing = try Editing(.sender)
            try editing.change(at: .days(1)) {
                try $0.publish(topics: [Topic("a")], epoch: nil, validForInSeconds: nil)
            }
            let id = try #require(editing.stored.metadata.publication?.set)
            try editing.change(at: .days(2)) {
                try $0.publish(topics: [Topic("b")], epoch: 2, validForInSeconds: 9 * day)
            }
            #expect(editing.stored.metadata.publication?.set == id)
            #expect(editing.stored.metadata.sequence == 3)
            let same = try editing.change(at: .days(3)) {
                try $0.publish(topics: [Topic("b")], epoch: nil, validForInSeconds: nil)
            }
            #expect(same.editor.events.isEmpty && editing.stored.metadata.sequence == 3)
            ids.insert(id)
        }
        #expect(ids.count == 2 && ids.allSatisfy { $0.count == 16 })
    }

    @Test("Random changes of publisher keys keep one to four keys, all of which sign", arguments: 0..<4)
    func randomChanges(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var (editing, now, refusals) = (try Editing(.publisher), UnixTime.days(0), 0)
        for _ in 0..<60 {
            now = now + Int64.random(in: 1...400 * day, using: &random)
            let kid = editing.timeline.keys.randomElement(using: &random)!.kid
            let (choice, force) = (Int.random(in: 0..<8, using: &random), Bool.random(using: &random))
            do {
                try editing.change(at: now, confirmsClock: true) { editor in
                    switch choice {
                    case 0...2: try editor.add(activatesAt: nil)
                    case 3...5: try editor.destroy(kid, force: force)
                    case 6: try editor.promote(kid, force: force)
                    default: _ = try editor.carryOut(editor.metadata.plan(at: editor.now, confirmsClock: true))
                    }
                }
            } catch is LifecycleError {
                refusals += 1
            }
            let alive = editing.timeline.keys.filter { $0.lifecycle.destroyedAt == nil }
            #expect((1...4).contains(alive.count))
            #expect(Set(editing.stored.records.keys) == Set(alive.map(\.kid)))
            #expect(alive.allSatisfy { editing.timeline.state(of: $0.kid, at: now + 36_500 * day)?.opens == true })
        }
        #expect(refusals > 0 && editing.lines.count > 5)
    }
}
