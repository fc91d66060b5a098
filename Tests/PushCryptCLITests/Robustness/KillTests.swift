import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// `kill -9` at every step of every change.
@Suite("a change that is killed", .ownThreads, .enabled(if: FaultPoints.exist, FaultPoints.missing))
struct KillTests {
    private static let path = KilledChange.path
    private static let nextChange = "keys policy Keys/ios --keep 7"

    @Test(
        "a killed change leaves the old or the new keyset, and the next command finishes it",
        arguments: KilledChange.all)
    func everyStep(_ change: KilledChange) throws {
        let made = try change.prepare()
        let whole = try made.place()
        let old = try StoredFile(Self.path, in: whole)
        let push = try #require(
            whole.sealedByLibrary(
                to: Self.path, change.made(in: whole, isNew: false).1, at: KilledChange.moment))
        let command = try change.arguments(whole)
        for point in change.points {
            let place = try made.place()
            try Self.kill(command, place, at: point.rawValue)
            let left = try StoredFile(Self.path, in: place)
            #expect(left.sequence == old.sequence + (point.isMade ? 1 : 0), "\(point)")
            #expect(left.kids.isSuperset(of: old.kids), "\(point)")
            let secret = point.isMade ? change.newSecret : change.secret
            // The steps before and after these two don't touch the keyset's file.
            if [.keysetSynced, .keysetRenamed].contains(point) {
                #expect(
                    try place.opens(push, with: Self.path, change.made(in: place, isNew: point.isMade).1), "\(point)")
                if change.name == "rotate", change.protection == .plain {
                    let opened = try place.run(
                        ["open", "--keys", Self.path, "--topic", Workplace.topic, "--at", KilledChange.time],
                        stdin: push)
                    #expect(opened.isSuccess && opened.payload == Workplace.inner, "\(point): \(opened)")
                }
            }
            // A passphrase that the tool chose the cost of takes a second for each command.
            if change.protection != .passphrase || LongTests.areEnabled {
                let other = try PlaceSnapshot(place).place()
                try expectFinished(change, point, by: ["keys", "policy", Self.path, "--keep", "7"], secret, other)
            }
            try expectFinished(change, point, by: ["keys", "verify", Self.path], secret, place)
            #expect(try StoredFile(Self.path, in: place).kids == left.kids, "\(point)")
        }
    }

    /// Expects that the next command reports what it finished and leaves an intact keyset.
    private func expectFinished(
        _ change: KilledChange, _ point: ChangePoint, by command: [String], _ secret: [String], _ place: Workplace
    ) throws {
        let next = try place.run(command + secret + ["--at", KilledChange.time])
        #expect(next.exit == 0, "\(point), \(command): \(next)")
        let isVerify = command[1] == "verify"
        let prefix = isVerify ? "mended     unfinished " : "pushcrypt: "
        let said = (isVerify ? next.text : next.stderr).split(separator: "\n").filter { $0.hasPrefix(prefix) }
            .map { String($0.dropFirst(prefix.count)).replacing(/new-[A-Za-z0-9_-]{12},/, with: "new-RANDOM,") }
        #expect(said == point.notices(Self.path, missingLines: change.lineCount), "\(point), \(command): \(next)")
        try expectWhole(place, change.made(in: place, isNew: point.isMade).1, "\(point)")
        #expect(try place.names(in: Self.path) == ["audit.jsonl", "keyset.json", "public.jwks.json"], "\(point)")
    }

    @Test("a rotation that is killed at any step is carried out exactly once")
    func rotateAgain() throws {
        let change = KilledChange(name: "rotate", protection: .plain)
        let made = try change.prepare()
        let command = try change.arguments(made.place())
        let points: [ChangePoint] =
            LongTests.areEnabled ? ChangePoint.allCases : [.locked, .keysetSynced, .keysetRenamed, .logged]
        for point in points {
            let place = try made.place()
            try Self.kill(command, place, at: point.rawValue)
            let plan = try place.rotate(Self.path, at: KilledChange.time)
            #expect(plan.exit == 0 && plan.done == (point.isMade ? [] : ["add", "destroy"]), "\(point)")
            #expect(try place.states(Self.path, at: KilledChange.time) == ["primary", "pending", "destroyed"])
        }
    }

    /// The third command finishes what the second one left.
    @Test(
        "a second kill while a command finishes the first change loses nothing",
        arguments: [
            "leftover-removed", "log-created", "log-written", "log-synced", "log-renamed", "public-created",
            "public-written", "public-synced", "public-renamed",
        ], LongTests.areEnabled ? [nextChange, "keys verify Keys/ios"] : [nextChange])
    func twice(_ point: String, _ command: String) throws {
        let (made, old) = try Self.killedOnce.get()
        let place = try made.place()
        let arguments = command.split(separator: " ").map(String.init) + ["--at", KilledChange.time]
        let killed = try place.run(arguments, dyingAt: point)
        #expect(killed.signal == SIGKILL, "\(killed)")
        let left = try StoredFile(Self.path, in: place)
        #expect(left.kids.count == old.kids.count + 1 && left.sequence == old.sequence + 1)
        try place.succeed("keys", "verify", Self.path, at: KilledChange.time)
        try expectWhole(place, nil, "\(point)")
        #expect(try place.names(in: Self.path) == ["audit.jsonl", "keyset.json", "public.jwks.json"])
        #expect(try StoredFile(Self.path, in: place).logCount == old.logCount + 1)
    }

    private static let killedOnce = Result {
        let change = KilledChange(name: "keys add", protection: .plain)
        let place = try change.prepare().place()
        let old = try StoredFile(path, in: place)
        try kill(try change.arguments(place), place, at: "public-created")
        return (try PlaceSnapshot(place), old)
    }

    /// Expects that every check of `keys verify` passes and nothing is repaired.
    private func expectWhole(_ place: Workplace, _ secret: KeysetSecret?, _ point: Comment) throws {
        let store = KeysetStore(place.folder.path + "/" + Self.path)
        let verified = try store.verify(SecretSource(secret), at: KilledChange.moment)
        #expect(verified.checks.allSatisfy { $0.outcome == .ok }, point)
    }

    private static func kill(_ command: [String], _ place: Workplace, at point: String) throws {
        let killed = try place.run(command, dyingAt: point)
        try #require(killed.signal == SIGKILL, "\(command) did not reach \(point): \(killed)")
    }
}

extension Workplace {
    /// Runs a command that kills itself at a fault point.
    func run(_ arguments: [String], dyingAt point: String) throws -> Output {
        try CLI.start(arguments, in: folder.url, environment: ["PUSHCRYPT_FAULT_POINT": point]).wait()
    }

    fileprivate func opens(_ push: Data, with path: String, _ secret: KeysetSecret?) throws -> Bool {
        let keyset = try Keyset(folder: folder.file(path).path, secret: secret)
        let opener = try Opener(topic: Self.topic, keyring: KeysetKeyring(keyset), senders: .unsigned)
        return try opener.open(Array(push), at: KilledChange.moment).get().payload == Array(Self.inner)
    }
}
