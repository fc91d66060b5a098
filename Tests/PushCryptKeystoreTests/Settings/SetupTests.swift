import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeystore

/// Real files without histories, of which one can't be written.
private final class SetupStorage: KeystoreStorage {
    struct Interruption: Error {}

    struct Locked: LockedStorage {
        let files: LockedFiles
        let storage: SetupStorage

        func keyset(_ path: String) throws -> FoundKeyset? { try files.keyset(path) }
        func others(of id: KeysetID, than path: String) throws -> [String] { try files.others(of: id, than: path) }
        func replace(_ path: String, with keyset: OpenedKeyset) throws {
            guard storage.changesLeft > 0 else { throw Interruption() }
            storage.changesLeft -= 1
            try files.replace(path, with: keyset)
        }
        func remove(_ path: String) throws { try files.remove(path) }
        func setHistory(_ history: KeysetHistory, from seen: KeysetHistory?) throws {
            try files.setHistory(history, from: seen)
        }
    }

    private let files: FileStorage
    /// How many files are written before one fails.
    var changesLeft = Int.max

    init(_ settings: Settings) {
        files = FileStorage(histories: nil, servedFolder: nil) { try settings.secret(for: $0, id: $1.log.state.id) }
    }

    func lock(_ path: String?) throws -> Locked { try Locked(files: files.lock(path), storage: self) }
    func keyset(_ path: String) throws -> FoundKeyset? { try files.keyset(path) }
    func history(of id: KeysetID) throws -> KeysetHistory? { try files.history(of: id) }
    func raiseHistory(to keyset: OpenedKeyset, from seen: KeysetHistory?, at time: UnixTime) throws {}
    func served(_ name: String) throws -> [UInt8]? { nil }
    func servedNames() throws -> [String] { [] }
    func serve(_ document: [UInt8], as name: String) throws {}
    func removeServed(_ name: String) throws {}
}

@Suite("Setup") struct SetupTests {
    private static let time = UnixTime(1_800_000_000)
    private let place: SettingsPlace
    private let setup: Setup

    init() throws {
        place = try SettingsPlace()
        setup = try Self.setup(place)
    }

    private static func setup(_ place: SettingsPlace) throws -> Setup {
        func keyset(_ name: String, _ kind: KeyKind) -> Setup.NewKeyset {
            .init(KeysetLocation(place.path("srv/Keys/\(name)")), kind)
        }
        var inbox = keyset("inbox", .recipient)
        (inbox.type, inbox.demandsPSK) = (.x25519, true)
        var setup = Setup(
            [keyset("senders", .sender), inbox, keyset("fleet", .shared)], history: place.path("var/lib/pushcrypt"),
            settings: place.path("etc/pushcrypt/pushcrypt.json"))
        setup.publisher = KeysetLocation(place.path("srv/Publisher/app"))
        setup.passphrase = place.path("etc/pushcrypt/passphrase")
        setup.publisherPassphrase = place.path("etc/pushcrypt/publisher-passphrase")
        setup.publication = .init(topics: [try Topic("com.example.app")], validForInSeconds: 60 * 86_400)
        setup.served = place.path("srv/www/push")
        setup.after = place.path("etc/pushcrypt/deliver")
        setup.pins = place.path("sender-pins.json")
        setup.parameters = try ScryptParameters(n: 2, r: 1, p: 1)
        setup.context = place.context
        return setup
    }

    private static func host(_ setup: Setup, name: String = "host") -> KeystoreHost<SetupStorage> {
        KeystoreHost(SetupStorage(setup.newSettings), name: name, who: "someone", clock: time)
    }

    @Test func `An empty host gets all parts, whose passphrases open the keysets, and pins that match`() throws {
        let host = Self.host(setup)
        let items = try setup.run(host)
        #expect(items.filter { !$0.isNew }.map(\.part) == [.folder(place.folder.path, isPrivate: false)])
        #expect(items.count == 15, "\(items)")
        let modes = try [
            "srv", "srv/Keys", "srv/Publisher", "var/lib/pushcrypt", "srv/www/push", "etc/pushcrypt",
            "etc/pushcrypt/passphrase", "etc/pushcrypt/publisher-passphrase", "srv/Keys/senders.keyset",
            "etc/pushcrypt/pushcrypt.json", "sender-pins.json",
        ].map { try place.folder.mode(of: $0) }
        #expect(modes == [0o755, 0o700, 0o700, 0o700, 0o755, 0o755, 0o600, 0o600, 0o600, 0o644, 0o644])
        let passphrases = try ["passphrase", "publisher-passphrase"].map {
            try FileSystem.readFile(place.path("etc/pushcrypt/\($0)"))
        }
        #expect(passphrases[0] != passphrases[1])
        #expect(passphrases.allSatisfy { $0.last == 0x0A && Base64URL.decode($0.dropLast())?.count == 32 })
        let found = try #require(try Settings.find(nil, place.context))
        #expect(found.json == setup.newSettings.json)
        #expect(found.keystores == [place.path("srv/Keys"), place.path("srv/Publisher")])
        #expect(found.after == setup.after && found.expected == ["senders", "inbox", "fleet", "app"])
        let storage = SetupStorage(found)
        let keysets = try ["Keys/senders", "Keys/inbox", "Keys/fleet", "Publisher/app"].map {
            try #require(try storage.keyset(place.path("srv/\($0).keyset"))).opened()
        }
        #expect(keysets.map(\.state.kind) == [.sender, .recipient, .shared, .publisher])
        #expect(keysets.map(\.state.writer) == Array(repeating: "host", count: 4))
        #expect(keysets.allSatisfy { $0.state.secrets.map(\.description) == ["passphrase"] })
        #expect(keysets[0].state.epochs == [1: keysets[3].state.id])
        #expect(keysets[0].state.publication == setup.publication)
        #expect(keysets[1].state.keys[0].algorithm.keyPairType == .x25519 && keysets[1].state.keys[0].demandsPSK)
        let pins = try SenderSetPins(json: FileSystem.readFile(place.path("sender-pins.json")))
        #expect(pins.set == keysets[0].state.id.bytes && pins.epoch == 1)
        #expect(pins.publishers.map(\.kid) == keysets[3].state.keys.map(\.kid))
    }

    @Test func `A second run finds all parts and changes nothing`() throws {
        let host = Self.host(setup)
        let first = try setup.run(host).map(\.part)
        let before = try place.snapshot()
        let items = try setup.run(host)
        #expect(items.map(\.part) == first)
        #expect(items.count { $0.isNew } == 0)
        #expect(try place.snapshot() == before)
    }

    @Test func `A sender keyset that was made by itself keeps its key, and is signed from now on`() throws {
        let host = Self.host(setup)
        let location = setup.keysets[0].location
        let folder = FileSystem.parent(of: location.path)
        var alone = Setup([.init(location, .sender)], history: setup.history, settings: place.path("alone.json"))
        (alone.passphrase, alone.parameters, alone.context) = (setup.passphrase, setup.parameters, setup.context)
        try alone.run(host)
        let before = try #require(try host.storage.keyset(location.path)).log.state
        #expect(before.publication == nil && FileSystem.isFolder(folder))
        let made = try setup.run(host).filter(\.isNew).map(\.part)
        #expect(!made.contains(.keyset(location)) && made.contains(.epoch(location)))
        let after = try #require(try host.storage.keyset(location.path)).log.state
        #expect(after.keys.map(\.kid) == before.keys.map(\.kid) && after.id == before.id)
        #expect(after.publication == setup.publication && after.epochs.count == 1)
    }

    @Test func `Another keyset is added to settings that a setup has written, and not to a person's`() throws {
        var setup = setup
        try setup.run(Self.host(setup))
        let before = try place.snapshot()
        func add(_ name: String) throws -> [Setup.Part] {
            setup.keysets = [.init(KeysetLocation(place.path("srv/Keys/\(name)")), .shared)]
            setup.pins = nil
            return try setup.run(Self.host(setup)).filter(\.isNew).map(\.part)
        }
        #expect(try add("two") == [.keyset(setup.keysets[0].location), .settings(setup.settings)])
        let expected = try Settings(reading: setup.settings, place.context).expected
        #expect(expected == ["senders", "inbox", "fleet", "app", "two"])
        for (name, content) in before where name != "etc/pushcrypt/pushcrypt.json" {
            #expect(try place.snapshot()[name] == content)
        }
        let text = try String(contentsOfFile: setup.settings, encoding: .utf8)
        try place.write(text.replacing("{\n", with: "{\n  \"# mine\": 1,\n"), to: "etc/pushcrypt/pushcrypt.json")
        #expect(try add("three") == [.keyset(setup.keysets[0].location)])
    }

    @Test("A setup that was interrupted after any number of files is completed and keeps what it had", arguments: 0..<5)
    func interrupted(_ count: Int) throws {
        let host = Self.host(setup)
        host.storage.changesLeft = count
        #expect(throws: SetupStorage.Interruption.self) { try setup.run(host) }
        let before = try place.snapshot()
        host.storage.changesLeft = .max
        // Without the five folders, the two passphrases and the keysets.
        #expect(try setup.run(host).count { $0.isNew } == 14 - 7 - count)
        let after = try place.snapshot()
        // The epoch is a line of the sender keyset.
        for (name, content) in before { #expect(after[name] == content || name == "srv/Keys/senders.keyset") }
        #expect(try setup.plan(host).count { $0.isNew } == 0)
    }

    @Test func `Each file that is lost is made again, except a passphrase that a keyset needs`() throws {
        try setup.run(Self.host(setup))
        for name in ["etc/pushcrypt/pushcrypt.json", "sender-pins.json", "srv/www/push"] {
            let before = try place.snapshot()
            try FileManager.default.removeItem(atPath: place.path(name))
            #expect(try setup.run(Self.host(setup)).count { $0.isNew } == 1)
            #expect(try place.snapshot() == before)
        }
        try FileManager.default.removeItem(atPath: place.path("etc/pushcrypt/passphrase"))
        let before = try place.snapshot()
        #expect(throws: KeystoreError.self) { try setup.run(Self.host(setup)) }
        #expect(try place.snapshot() == before)
    }

    private static func location(_ name: String, _ place: SettingsPlace) -> KeysetLocation {
        KeysetLocation(place.path(name))
    }

    private typealias Change = (String, SetupConflict.Code, @Sendable (SettingsPlace, inout Setup) throws -> Void)
    private static let conflicts: [Change] = [
        ("two keysets of one name", .sameName, { $1.keysets.append($1.keysets[0]) }),
        ("a publisher in clear", .publisherInClear, { $1.publisherPassphrase = nil }),
        ("a publisher among the others", .publisherAmongOthers, { $1.publisher = location("srv/Keys/app", $0) }),
        ("two publishers", .publisherAmongOthers, { $1.keysets.append(.init(location("x/two", $0), .publisher)) }),
        ("no publication", .noPublication, { $1.publication = nil }),
        ("pins of two sets", .noPinnedSet, { $1.keysets.append(.init(location("srv/Keys/two", $0), .sender)) }),
        ("pins without a publisher", .noPinnedSet, { ($1.publisher, $1.publisherPassphrase) = (nil, nil) }),
        ("another kind", .otherKind, { $1.keysets[1] = .init($1.keysets[1].location, .shared) }),
        (
            "another validity", .otherPublication,
            { $1.publication = .init(topics: $1.publication!.topics, validForInSeconds: 30 * 86_400) }
        ),
        ("another history", .otherSettings, { $1.history = $0.path("var/other") }),
        ("another served folder", .otherSettings, { $1.served = $0.path("srv/www") }),
        ("another keystore", .otherSettings, { $1.keysets.append(.init(location("x/two", $0), .shared)) }),
        ("a file in place of a folder", .notAFolder, { $1.history = try $0.write("", to: "file") }),
        ("a file above a folder", .notAFolder, { $1.history = try $0.write("", to: "file") + "/a/b" }),
        (
            "the pins of another set", .otherPins,
            { place, _ in
                let text = try String(contentsOfFile: place.path("sender-pins.json"), encoding: .utf8)
                try place.write(text.replacing("\"epoch\": 1", with: "\"epoch\": 2"), to: "sender-pins.json")
            }
        ),
        (
            "another publisher", .otherPublisher,
            { place, setup in
                try FileManager.default.removeItem(atPath: place.path("srv/Publisher/app.keyset"))
                var other = Setup([], history: setup.history, settings: place.path("other.json"))
                (other.publisher, other.publisherPassphrase) = (setup.publisher, setup.publisherPassphrase)
                (other.parameters, other.context) = (setup.parameters, setup.context)
                try other.run(SetupTests.host(other))
            }
        ),
    ]

    @Test("What is impossible or differs is refused before anything is written", arguments: 0..<conflicts.count)
    func conflict(_ index: Int) throws {
        let (name, code, change) = Self.conflicts[index]
        var setup = setup
        try setup.run(Self.host(setup))
        try change(place, &setup)
        let before = try place.snapshot()
        let error = #expect(throws: SetupConflict.self, "\(name)") { try setup.run(Self.host(setup)) }
        #expect(error?.code == code, "\(name)")
        #expect(try place.snapshot() == before, "\(name)")
    }

    @Test func `Another host's keysets, open or nested folders and impossible times make nothing`() throws {
        func isRefused<Failure: Error>(_ type: Failure.Type, _ change: (inout Setup) -> Void) throws -> Failure? {
            var other = setup
            change(&other)
            let before = try place.snapshot()
            let error = #expect(throws: type) { try other.run(Self.host(other)) }
            #expect(try place.snapshot() == before)
            return error
        }
        let topics = setup.publication!.topics
        for days in [13, 91] as [Int64] {
            let error = try isRefused(KeystoreRefusal.self) {
                $0.publication = .init(topics: topics, validForInSeconds: days * 86_400)
            }
            #expect(error == .publicationLimits)
        }
        #expect(try isRefused(SettingsError.self) { $0.served = place.path("srv/Keys/www") }?.code == .conflicting)
        try FileSystem.makeFolders(place.path("srv/Keys"))
        try place.setMode(0o755, of: "srv/Keys")
        #expect(try isRefused(FileError.self) { _ in }?.code == .looseMode)
        try place.setMode(0o700, of: "srv/Keys")
        try FileSystem.makeFolders(place.path("etc"))
        try place.setMode(0o777, of: "etc")
        #expect(try isRefused(SettingsError.self) { _ in }?.code == .writableByOthers)
        try place.setMode(0o755, of: "etc")
        try setup.run(Self.host(setup))
        let error = #expect(throws: SetupConflict.self) { try setup.run(Self.host(setup, name: "other")) }
        #expect(error?.code == .otherWriter)
        let clear = try isRefused(KeysetFileError.self) { ($0.passphrase, $0.publisherPassphrase) = (nil, nil) }
        #expect(clear?.cause.code == .secretNeeded)
    }

    @Test func `Keys in clear have no passphrase files and no secret in the settings`() throws {
        var setup = setup
        (setup.passphrase, setup.publisherPassphrase) = (nil, nil)
        try setup.run(Self.host(setup))
        #expect(try place.folder.names(in: "etc/pushcrypt") == ["pushcrypt.json"])
        let settings = try Settings(reading: setup.settings, place.context)
        #expect(settings.secret == nil && settings.secrets.isEmpty)
        #expect(
            try SetupStorage(settings).keyset(place.path("srv/Publisher/app.keyset"))?.opened().material.secrets == nil)
        setup.publisherPassphrase = place.path("etc/pushcrypt/p")
        #expect(throws: (any Error).self) { try setup.run(Self.host(setup)) }
        #expect(!FileSystem.exists(place.path("etc/pushcrypt/p")))
    }
}
