import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("KeysetStore.rotate") struct KeysetRotationTests {
    private let place: TemporaryFolder
    private let store: KeysetStore
    private static let start = UnixTime(1_772_355_600)
    private static let actor = Actor(name: "tester", reason: "why")

    init() throws {
        place = try TemporaryFolder()
        store = KeysetStore(place.path + "/ios")
        let record = try KeyRecord.generate(.sender, backend: DefaultBackend.shared)
        try store.create(
            record, .standard, .passphrase(ScryptParameters(n: 2, r: 1, p: 1)), Self.secret, at: Self.start,
            by: Self.actor)
    }

    private static var secret: KeysetSecret {
        .passphrase(SecretBytes(copying: Array("correct horse".utf8).bytes))
    }

    /// Counts calls.
    private final class Counter {
        var plans = 0
        var secrets = 0
    }

    private func rotate(
        day: Int64, _ source: SecretSource, isDryRun: Bool = false, _ counter: Counter
    ) throws -> KeysetStore.Rotation {
        let time = Self.start + day * 86_400
        return try store.rotate(at: time, by: Self.actor, source, isDryRun: isDryRun) { keyset in
            counter.plans += 1
            return RotationPlan(keyset.timeline, keyset.policy, at: time)
        }
    }

    @Test("With a given secret, rotate plans once, unlocks once and adds the next key")
    func givenSecret() throws {
        let counter = Counter()
        let source = SecretSource.given {
            counter.secrets += 1
            return Self.secret
        }
        let rotation = try rotate(day: 84, source, counter)
        #expect(rotation.done.map(\.step) == rotation.plan.due)
        #expect(rotation.done.map(\.step.action.name) == ["add"])
        #expect(rotation.metadata.timeline.keys.map(\.kid).last == rotation.done[0].kid)
        #expect(try store.folder.file().metadata == rotation.metadata)
        #expect(counter.plans == 1 && counter.secrets == 1)
    }

    @Test("Without a given secret, rotate asks once while the folder is not locked, and plans again after the answer")
    func askedSecret() throws {
        let counter = Counter()
        let path = store.folder.path
        let source = SecretSource.asked {
            counter.secrets += 1
            // A process that another test starts keeps a copy of the released lock's descriptor until it runs its program.
            try Folder(path).lock(.exclusive, .until(.now + .seconds(10)))
            return Self.secret
        }
        let rotation = try rotate(day: 84, source, counter)
        #expect(rotation.done.count == 1)
        #expect(counter.plans == 2 && counter.secrets == 1)
    }

    @Test("If nothing is due, rotate asks no question and writes nothing")
    func nothingDue() throws {
        let before = try FileSystem.readFile(store.folder.path + "/keyset.json")
        let counter = Counter()
        let source = SecretSource.asked {
            counter.secrets += 1
            return Self.secret
        }
        let rotation = try rotate(day: 3, source, counter)
        #expect(rotation.done.isEmpty && rotation.plan.next != nil)
        #expect(counter.plans == 1 && counter.secrets == 0)
        #expect(try FileSystem.readFile(store.folder.path + "/keyset.json") == before)
    }

    @Test("A dry run makes the same plan, needs no secret and writes nothing")
    func dryRun() throws {
        let before = try FileSystem.readFile(store.folder.path + "/keyset.json")
        let counter = Counter()
        let previewed = try rotate(day: 84, .none, isDryRun: true, counter)
        #expect(previewed.done.isEmpty)
        #expect(try FileSystem.readFile(store.folder.path + "/keyset.json") == before)
        let rotation = try rotate(day: 84, SecretSource(Self.secret), counter)
        #expect(rotation.plan == previewed.plan)
    }

    @Test("rotate refuses a wrong secret before it plans, also if nothing is due")
    func wrongSecret() throws {
        let counter = Counter()
        let wrong = SecretSource(.passphrase(SecretBytes(copying: Array("wrong".utf8).bytes)))
        for day in [3, 84] as [Int64] {
            let error = #expect(throws: KeystoreError.self) { try rotate(day: day, wrong, counter) }
            #expect(error?.code == .wrongSecret)
        }
        #expect(counter.plans == 0)
    }

    @Test("rotate refuses a plan that erases the primary, and writes nothing")
    func otherPlan() throws {
        let before = try FileSystem.readFile(store.folder.path + "/keyset.json")
        let time = Self.start + 84 * 86_400
        #expect(throws: LifecycleError.self) {
            try store.rotate(at: time, by: Self.actor, SecretSource(Self.secret)) { keyset in
                // As if the only key had expired.
                var timeline = keyset.timeline
                timeline.keys[0].lifecycle.retiresAt = Self.start + 1
                timeline.keys[0].lifecycle.expiresAt = Self.start + 2
                return RotationPlan(timeline, keyset.policy, at: time)
            }
        }
        #expect(try FileSystem.readFile(store.folder.path + "/keyset.json") == before)
    }
}
