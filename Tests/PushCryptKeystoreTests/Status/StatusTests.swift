import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptLives

/// Each fault is made by real operations on real files, and its remedy ends it.
@Suite("Status of keystores") struct StatusTests {
    let world: StatusWorld

    init() throws { world = try StatusWorld() }

    @Test func `A keystore with daily runs has no findings over a year, and the summary follows it`() throws {
        var primaries: Set<KeyID> = []
        for number in 1...365 {
            world.clock = world.clock + day
            #expect(world.codes == [], "before the run of \(world.clock)")
            try world.run()
            guard number.isMultiple(of: 5) else { continue }
            let status = world.status()
            #expect(status.findings == [] && status.lastRun == world.clock)
            let senders = try #require(status.keysets.first { $0.kind == .sender })
            let end = try #require(senders.setsEnd[1])
            #expect(try end > world.clock && senders.head == world.state().head)
            primaries.formUnion([try #require(senders.primary)])
        }
        #expect(primaries.count == 5)
    }

    // MARK: Copies

    @Test func `A snapshot of a shared keyset that brings a revoked key back is an old copy`() throws {
        let path = "\(world.folder.path)/Keys/master.keyset"
        let kid = try world.host().create(path, .shared, secrets: Life.secrets).state.keys[0].kid
        try world.host().rotate(path)
        let snapshot = try world.file(path)
        try world.host().revoke(path, kid)
        #expect(world.codes == [])
        try world.write(snapshot, path)
        let finding = try world.finding(.oldCopy)
        #expect(try finding.keyset == world.reference(path))
        try world.carryOut(finding.remedy)
        // Only the snapshot's material is left.
        #expect(world.codes == [.lostKeys])
        #expect(try world.state(path).key(kid)?.lifecycle.revokedAt != nil)
    }

    @Test func `A copy that a rival has changed is one of two histories`() throws {
        let rival = try StatusWorld()
        let copy = try world.file(world.senders)
        let path = "\(rival.folder.path)/Keys/rival.keyset"
        try rival.write(copy, path)
        rival.name = "rival"
        try rival.host().restore(path, [rival.host().load(path)]) { _ in true }
        try world.host().rotate(world.senders, beginsNow: true)
        try world.write(try rival.file(path), world.senders)
        let finding = try world.finding(.twoHistories)
        try world.carryOut(finding.remedy)
        try world.run()
        #expect(world.codes.allSatisfy { $0 == .lostKeys })
    }

    @Test func `A second file of an id is one finding, in the same keystore or in another one`() throws {
        for name in ["Keys/copy", "Publisher/copy"] {
            try world.write(try world.file(world.senders), "\(world.folder.path)/\(name).keyset")
            try world.heal(world.finding(.twoFiles))
        }
    }

    @Test func `A keyset that is gone is missing once, by its expected name and by what the host has seen`() throws {
        let (file, id) = (try world.opened(world.senders), try world.state().id)
        FileSystem.removeFile(world.senders)
        let finding = try world.finding(.missing)
        #expect(finding.keyset == KeysetReference(KeysetLocation(world.senders), id))
        try world.heal(finding, with: [file])
    }

    @Test func `A history that is gone is a first sight`() throws {
        FileSystem.removeFile(try world.historyPath(world.senders))
        #expect(try world.finding(.firstSight).facts == .firstSight(world.state().head, at: world.state().at))
        try world.run()
        world.clock = world.clock + day - 1
        #expect(world.codes == [.firstSight])
        world.clock = world.clock + 1
        #expect(world.codes == [])
    }

    // MARK: Files

    @Test func `A damaged keyset names the row, and a damaged history is written again by restore`() throws {
        let whole = try world.file(world.senders)
        var damaged = whole
        damaged[whole.firstIndex(of: UInt8(ascii: "\n"))! + 1] ^= 1
        try world.write(damaged, world.senders)
        let facts = try world.finding(.damaged).facts
        let row: Int? = if case .damaged(world.senders, let error) = facts { error.row } else { nil }
        #expect(row == 2)
        try world.write(whole, world.senders)
        let history = try world.historyPath(world.senders)
        try world.write(Array("junk\n".utf8), history)
        try world.carryOut(try world.finding(.damaged).remedy)
        #expect(try world.storage.history(of: world.state().id)?.log.bytes == world.opened(world.senders).log.bytes)
    }

    @Test func `A file that others can read is open to others until it is private`() throws {
        try world.folder.setMode(0o644, of: "Keys/senders.keyset")
        try world.carryOut(try world.finding(.openToOthers).remedy)
        #expect(world.codes == [])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func `Keystores of another user are one finding`() throws {
        for name in ["Keys", "Publisher", "history"] { unsafe chown("\(world.folder.path)/\(name)", 4_242, 4_242) }
        let places = ["Keys", "Publisher"].map { "\(world.folder.path)/\($0)" }
        #expect(world.status().findings == [StatusFinding(.otherUser(4_242, paths: places), nil, .runAs(4_242))])
    }

    @Test func `A keyset in clear is a notice`() throws {
        let plain = try StatusWorld(nil)
        #expect(plain.codes == [.notEncrypted, .notEncrypted] && plain.status().severity == .notice)
    }

    @Test func `Only the long form finds a wrong secret, a forged history and an unknown file`() throws {
        #expect(world.status(isLong: true).findings == [])
        let wrong = world.status(isLong: true, secret: .passphrase(SecretBytes(copying: Array("b".utf8).bytes)))
        #expect(wrong.findings.map(\.code) == [.unreadable, .unreadable])
        #expect(try wrong.findings.first?.remedy == .giveSecret(world.reference(world.senders)))
        let keyset = try world.opened(world.senders)
        try world.remember(KeysetHistory(keyset.log, mac: [UInt8](repeating: 0, count: 32)))
        try world.write([], "\(world.folder.path)/Keys/senders.keyset.new-x")
        #expect(world.status(isLong: true).findings.map(\.code) == [.damaged, .unknownFile])
        #expect(world.codes == [])
    }

    @Test func `A log of more than 2 MiB is near its limit`() throws {
        var changes = KeysetChanges()
        changes.over = (1...12_000).map { LogPoint(number: $0, hash: [UInt8](repeating: 7, count: 32)) }
        let keyset = try world.opened(world.senders)
        var log = keyset.log
        while log.bytes.count <= 2 << 20 { log = try log.appending(.restored, at: log.state.at, who: "op", changes) }
        try world.storage.lock(world.senders).replace(world.senders, with: OpenedKeyset(log, keyset.material))
        #expect(try world.finding(.nearLimit).facts == .nearLimit(.log, log.bytes.count))
    }

    // MARK: The host

    @Test(arguments: [FolderFault.readOnly, .full, .noLocks])
    func `A disk that can't be written is one finding, also after 40 days`(_ fault: FolderFault) throws {
        let folders = ["Keys", "Publisher", "history", "www"].map { "\(world.folder.path)/\($0)" }
        for folder in folders { world.faults[folder] = fault }
        for _ in 0..<2 {
            #expect(try world.finding(.cannotWrite).facts == .cannotWrite(fault, folders: folders))
            world.clock = world.clock + 40 * day
        }
    }

    @Test func `A folder that is missing must be made, and one that can be written has no fault`() throws {
        let folder = "\(world.folder.path)/nothing"
        #expect(FolderFault("\(world.folder.path)/Keys", needsLock: true) == nil)
        #expect(FolderFault(folder, needsLock: true)?.finding([folder]).remedy == .makeWritable([folder]))
    }

    @Test func `A dead cron is a warning, critical when a rotation is overdue, and a clock after a month`() throws {
        try world.pass(days: 70)
        world.clock = world.clock + 36 * 3_600
        #expect(world.codes == [])
        world.clock = world.clock + 1
        let finding = try world.finding(.notRun)
        #expect(finding.remedy == .enableTimer && finding.severity == .warning)
        world.clock = world.clock + 14 * day
        let late = try world.finding(.overdue)
        #expect(late.remedy == .enableTimer && late.severity == .critical)
        world.clock = world.clock + 20 * day
        #expect(try world.finding(.clock).remedy == .setClock)
        try world.run(confirmsClock: true)
        #expect(world.codes == [])
    }

    @Test func `A failed run is critical until one succeeds, also of the publisher; one that waits isn't`() throws {
        for path in [world.senders, world.app] {
            for (status, codes) in [(69, [StatusFinding.Code.runFailed]), (75, []), (0, [])] {
                try world.host().recordRun(of: world.state(path).id, status: status)
                #expect(world.codes == codes)
            }
        }
    }

    @Test func `A host that isn't the writer is a warning, critical when overdue, until it takes over`() throws {
        world.name = "other"
        #expect(try world.finding(.otherWriter).severity == .warning)
        world.clock = world.clock + 83 * day + 37 * 3_600
        try world.heal(world.finding(.overdue), confirmsClock: true)
    }

    @Test func `A revocation under a clock a year ahead is published, and the clock still stops the run`() throws {
        let start = world.clock
        world.clock = world.clock + 365 * day
        try world.host().revoke(world.senders, world.state().keys[0].kid)
        _ = try world.host().publish(world.senders, publishers: [world.host().load(world.app)], isUrgent: true)
        try world.host().recordRun(of: world.state().id, status: 0)
        #expect(throws: KeystoreRefusal.clockAhead(last: start)) { try world.run() }
        #expect(try world.finding(.clock).facts == .clock(isBehind: false, last: start))
        world.clock = start + day
        try world.heal(world.finding(.clock))
    }

    @Test func `A clock a year ahead stops the run, and one that was confirmed leaves lines in the future`() throws {
        let start = world.clock
        world.clock = world.clock + 365 * day
        #expect(try world.finding(.clock).facts == .clock(isBehind: false, last: start))
        #expect(throws: KeystoreRefusal.clockAhead(last: start)) { try world.run() }
        world.clock = start
        #expect(world.codes == [])
        world.clock = world.clock + 365 * day
        try world.run(confirmsClock: true)
        let lastLine = world.clock
        world.clock = start + day
        let finding = try world.finding(.clock)
        #expect(finding.facts == .clock(isBehind: true, last: lastLine))
        try world.heal(finding)
    }

    // MARK: Keys

    @Test func `After a restoration without the pending key the primary one seals until there is a next`() throws {
        let backup = try world.opened(world.senders)
        try world.pass(days: 84)
        FileSystem.removeFile(world.senders)
        try world.host().restore(world.senders, [backup]) { _ in true }
        #expect(world.codes == [.lostKeys])
        try world.run()
        #expect(world.codes == [.lostKeys])
        let keys = try world.state().timeline.keys
        #expect(keys.count == 2 && keys[0].lifecycle.retiresAt == keys[1].lifecycle.activatesAt)
    }

    @Test func `A revoked key that a restored copy lacks isn't reported as lost`() throws {
        let backup = try world.opened(world.senders)
        try world.host().rotate(world.senders, beginsNow: true)
        let kid = try #require(try world.state().keys.last?.kid)
        try world.host().revoke(world.senders, kid)
        FileSystem.removeFile(world.senders)
        try world.host().restore(world.senders, [backup]) { _ in true }
        let state = try world.state()
        #expect(state.key(kid)?.isLost == true)
        let reported = world.status().findings.flatMap { finding in
            if case .lostKeys(let kids) = finding.facts { kids } else { [KeyID]() }
        }
        #expect(reported == state.keys.filter { $0.isLost && $0.kid != kid }.map(\.kid))
    }

    @Test func `A key that waits for the devices' reports is a warning after a week`() throws {
        let policy = try RotationPolicy(
            rotateEveryInSeconds: 30 * day, publishLeadInSeconds: 2 * day, overlapInSeconds: 30 * day, keep: 2,
            requiredCoverage: .init(thousandthsOfPercent: 99_000))
        let gated = try StatusWorld(policy: policy)
        try gated.pass(days: 36)
        #expect(gated.codes == [])
        try gated.pass(days: 2)
        #expect(try gated.finding(.waiting).remedy == .reportCoverage(gated.reference(gated.senders)))
    }

    // MARK: Sets

    @Test func `A set that isn't made again is a warning after half its validity, critical near its end`() throws {
        try world.pass(days: 31, publishes: false)
        #expect(world.codes == [])
        try world.pass(days: 1, publishes: false)
        #expect(try world.finding(.unpublished).severity == .warning)
        try world.pass(days: 13, publishes: false)
        let finding = try world.finding(.served)
        #expect(finding.facts == .served(epoch: 1, .ends(UnixTime(1_800_000_000) + 60 * day)))
        try world.carryOut(finding.remedy)
        #expect(world.codes == [])
    }

    @Test func `A revocation that isn't served is critical at once, and so is a set that isn't served`() throws {
        let kid = try world.state().keys[0].kid
        try world.host().revoke(world.senders, kid)
        var finding = try world.finding(.served)
        #expect(finding.facts == .served(epoch: 1, .lacksRevocations([kid])))
        try world.carryOut(finding.remedy)
        #expect(world.codes == [])
        let (served, at) = (try world.state().head, world.clock + 31 * day)
        world.clock = at
        try world.host(confirmsClock: true).rotate(world.senders)
        try world.publish(serves: false, confirmsClock: true)
        try world.host(confirmsClock: true).recordRun(of: world.state().id, status: 0)
        finding = try world.finding(.served)
        #expect(finding.facts == .served(epoch: 1, .older(served: served, madeAt: at)))
        try world.carryOut(finding.remedy)
        #expect(world.codes == [])
    }

    @Test func `A served file that is missing, junk, another set's or a stranger's is published again`() throws {
        let (path, document) = (try world.servedPath(), try world.file(try world.servedPath()))
        let other = try StatusWorld()
        let payload = try #require(SignedSenderSet.unverifiedPayload(of: document))
        let stranger = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        let cases: [([UInt8]?, StatusFinding.ServedFault)] = [
            (nil, .missing), (Array("junk".utf8), .notASet),
            (try other.file(try other.servedPath()), .otherSet(try other.state().id, epoch: 1)),
            (try SignedSenderSet.sign(payload: payload, by: [stranger]), .notSigned),
        ]
        for (bytes, fault) in cases {
            if let bytes { try world.write(bytes, path) } else { FileSystem.removeFile(path) }
            let finding = try world.finding(.served)
            #expect(finding.facts == .served(epoch: 1, fault))
            try world.carryOut(finding.remedy)
            #expect(try world.codes == [] && world.file(path) == document)
        }
    }

    /// Brings a snapshot and no history back, and carries out the remedy.
    private func comeBack(with snapshot: [UInt8]) throws {
        try world.write(snapshot, world.senders)
        FileSystem.removeFile(try world.historyPath(world.senders))
        try world.host().rotate(world.senders)
        let finding = try world.finding(.servedAhead, and: [.firstSight])
        #expect(try finding.remedy == .restore(world.reference(world.senders)))
        try world.carryOut(finding.remedy)
        try world.run()
        #expect(world.codes == [.firstSight])
    }

    @Test func `A host that comes back from a snapshot meets a set that is ahead, and restores`() throws {
        let snapshot = try world.file(world.senders)
        let kid = try world.state().keys[0].kid
        try world.host().revoke(world.senders, kid)
        try world.run()
        try comeBack(with: snapshot)
        #expect(try world.state().key(kid)?.lifecycle.revokedAt != nil)
    }

    @Test func `A set ahead that a stranger has signed needs a person, and then is replaced`() throws {
        let snapshot = try world.file(world.senders)
        try world.host().rotate(world.senders, beginsNow: true)
        try world.run()
        let payload = try #require(SignedSenderSet.unverifiedPayload(of: try world.file(try world.servedPath())))
        let stranger = try KeyRecord.generate(.publisher, backend: DefaultBackend.shared)
        try world.write(try SignedSenderSet.sign(payload: payload, by: [stranger]), try world.servedPath())
        try comeBack(with: snapshot)
    }

    @Test func `Unsigned public keys that are missing, changed or of an earlier line are published again`() throws {
        let path = "\(world.folder.path)/Keys/inbox.keyset"
        let id = try world.host().create(path, .recipient, secrets: Life.secrets).state.id
        let served = "\(world.folder.path)/www/\(ServedDocument.name(id, nil))"
        func publish() throws { #expect(try world.host().publish(path).count == 1) }
        #expect(world.codes == [])
        try publish()
        let document = try world.file(served)
        for (bytes, fault) in [
            (nil, StatusFinding.ServedFault.missing), (Array("junk".utf8), .notASet), (document + [0x20], .notASet),
        ] {
            if let bytes { try world.write(bytes, served) } else { FileSystem.removeFile(served) }
            #expect(try world.finding(.served).facts == .served(epoch: nil, fault))
            try publish()
            #expect(try world.codes == [] && world.file(served) == document)
        }
        try world.host().rotate(path, beginsNow: true)
        #expect(world.codes == [])
        try publish()
        try world.write(document, served)
        let facts = try world.finding(.served).facts
        let isOlder = if case .served(nil, .older) = facts { true } else { false }
        #expect(isOlder)
    }

    @Test func `Keys of devices that are missing or old for 36 hours are a warning, until they are written`() throws {
        let path = "\(world.folder.path)/Keys/fleet.keyset"
        _ = try world.host().create(path, .shared, secrets: Life.secrets)
        let (list, outbox) = ("\(world.folder.path)/list", "\(world.folder.path)/www")
        try world.write(Array("a\nb\n".utf8), list)
        let places = KeystoreStatus.Places(
            keystores: world.places.keystores, history: world.places.history, served: world.places.served,
            devices: ["fleet": .init(list: list, to: outbox)])
        func found() -> [StatusFinding.Facts] { world.status(places).findings.map(\.facts) }
        func run() throws {
            try world.run()
            try world.host().rotate(path)
            _ = try world.host().publishDevices(path, list: list, to: outbox)
            try world.host().recordRun(of: world.state(path).id, status: 0)
        }
        #expect(found() == [.outbox(missing: 2, late: 0, folder: outbox)])
        try run()
        #expect(found() == [])
        try world.host().rotate(path, beginsNow: true)
        #expect(found() == [])
        world.clock = world.clock + 36 * 3_600 + 1
        try world.run()
        try world.host().recordRun(of: world.state(path).id, status: 0)
        #expect(found() == [.outbox(missing: 0, late: 2, folder: outbox)])
        try run()
        #expect(found() == [])
        FileSystem.removeFile(list)
        #expect(found() == [.missing(path: list)])
    }

    @Test func `Names in the settings of keysets that are neither there nor expected are one warning`() throws {
        func codes(_ secrets: [String], _ devices: [String]) -> [StatusFinding.Facts] {
            let places = KeystoreStatus.Places(
                keystores: world.places.keystores, history: world.places.history, expected: ["senders", "app"],
                devices: Dictionary(uniqueKeysWithValues: devices.map { ($0, .init(list: "list", to: "out")) }),
                secrets: secrets)
            return world.status(places).findings.map(\.facts)
        }
        #expect(codes(["app", "senders"], []) == [])
        #expect(codes(["app", "sender"], ["fleat"]) == [.unknownName(["devices.fleat", "secrets.sender"])])
        let file = world.senders
        FileSystem.removeFile(file)
        #expect(codes(["senders"], []) == [.missing(path: file)])
    }

    // MARK: Publishers

    @Test func `A publisher from an old copy is older than the last published point`() throws {
        let old = try world.file(world.app)
        let newer = try world.host().change(world.app, .rotated) { try $0.add(activatesAt: nil) }
        world.clock = world.clock + 31 * day
        try world.run(confirmsClock: true)
        #expect(world.codes == [])
        try world.write(old, world.app)
        #expect(world.codes == [.oldCopy])
        FileSystem.removeFile(try world.historyPath(world.app))
        let finding = try world.finding(.publisherOlder, and: [.firstSight])
        try world.carryOut(finding.remedy, with: [newer])
        #expect(world.codes == [.firstSight])
    }

    @Test func `An epoch whose publisher is on another host is a notice, and a lost publisher is missing`() throws {
        FileSystem.removeFile(world.app)
        let places = KeystoreStatus.Places(
            keystores: world.places.keystores, history: world.places.history, served: world.places.served)
        #expect(world.status(places).findings.map(\.code) == [.missing])
        for name in try world.folder.names(in: "history") where name != "\(try world.state().id)" {
            FileSystem.removeFile("\(world.folder.path)/history/\(name)")
        }
        #expect(world.status(places).findings.map(\.code) == [.publisherAway])
    }
}
