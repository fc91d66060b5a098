import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// A command that changes keysets, in a place where it has something to do.
struct ChangingCommand: Sendable, CustomTestStringConvertible {
    private let verb: String
    /// `OLDEST` is the first key of the keyset.
    private let operands: String

    private init(_ verb: String, _ operands: String = "") {
        self.verb = verb
        self.operands = operands
    }

    static let all: [ChangingCommand] = [
        .init(initialisation), .init("keys create --kind recipient --insecure-plaintext", "Keys/new"),
        .init("keys import", "Keys/senders key"), rotate, .init("rotate --now --at-once", "Keys/fleet"),
        .init("publish"), .init("revoke --yes", "Keys/senders OLDEST"),
        .init("restore --over --confirm-clock", "Keys/lost copy.keyset"), .init("keys policy --keep 7", "Keys/fleet"),
        .init("keys destroy --yes", "Keys/fleet OLDEST"),
        .init("keys secret set --new-wrap-command ./wrap", "Keys/inbox"),
    ]
    static let rotate = ChangingCommand("rotate", "Keys/senders")

    private static let initialisation =
        "init --keystore Keys --publisher-keystore Publisher --history history --settings pushcrypt.json "
        + "--publish-to www --pins pins.json --topic \(Workplace.topic) --sender senders --shared fleet "
        + "--recipient new --valid-for 30d --insecure-plaintext --yes"

    var testDescription: String { isInitialisation ? "init" : "\(verb) \(operands)" }
    private var isInitialisation: Bool { verb == Self.initialisation }
    /// Whether it makes a keyset, and leaves those that are there.
    var isCreation: Bool { isInitialisation || ["keys create", "restore"].contains { verb.hasPrefix($0) } }
    /// Whether a second run finds nothing to do, and succeeds.
    var converges: Bool {
        isInitialisation || ["rotate", "publish", "restore --over", "keys policy --keep 7"].contains(verb)
    }

    func arguments(in place: Workplace) throws -> [String] {
        let options = (isInitialisation ? [] : ["--settings", "pushcrypt.json"]) + ["--at", Self.time]
        var words = operands.split(separator: " ").map(String.init)
        if words.last == "OLDEST" { words[1] = try #require(place.log(words[0]).state.keys.first).kid.description }
        return verb.split(separator: " ").map(String.init) + options + (words.isEmpty ? [] : ["--"] + words)
    }

    /// A key of senders has to be replaced and its set to be renewed, fleet has a key that only opens, and the file of
    /// `Keys/lost` is lost.
    static func place() throws -> Workplace { try made.get().place() }

    static let time = Workplace.later(91 * Workplace.days)
    static let folders = ["Keys", "Publisher", "history", "www"]

    private static let made = Result {
        let place = try Workplace()
        func run(_ command: String, day: Int) throws {
            let settings = command.hasPrefix("init") ? [] : ["--settings", "pushcrypt.json"]
            let time = ["--at", Workplace.later(day * Workplace.days)]
            let output = try place.run(command.split(separator: " ").map(String.init) + settings + time)
            try #require(output.exit == 0, "\(command): \(output)")
        }
        try run(initialisation.replacing("recipient new", with: "recipient inbox"), day: 0)
        // The place is copied.
        try place.edit("pushcrypt.json") { $0.replacing(place.folder.path + "/", with: "") }
        try run("keys create Keys/lost --kind sender --insecure-plaintext", day: 0)
        try place.write(place.read("Keys/lost.keyset"), to: "copy.keyset")
        try run("rotate Keys/lost --now", day: 0)
        try place.remove("Keys/lost.keyset")
        for day in [25, 50, 75] {
            try run("rotate", day: day)
            if day == 25 { try run("rotate --now Keys/fleet", day: day) }
        }
        try place.create("other/key", "sender")
        try place.export("other/key", to: "key", "--private", "--format", "pem", "--insecure-plaintext")
        try place.writeWrapCommand("wrap")
        return try PlaceSnapshot(place)
    }
}

extension Workplace {
    /// The logs of all keysets, without a start of the tool.
    func logs() throws -> [String: KeysetLog] {
        try ["Keys", "Publisher"].reduce(into: [:]) { logs, folder in
            for name in try names(in: folder) where name.hasSuffix(KeysetLocation.suffix) {
                logs["\(folder)/\(name)"] = try log("\(folder)/\(name)")
            }
        }
    }
}
