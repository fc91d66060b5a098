import Foundation
import PushCryptTestSupport
import Testing

/// Hosts in one temporary folder, with one served folder. Each has settings, keystores and a history of its own.
struct KeystorePlace {
    let place: Workplace

    /// Makes host `a` with a sender keyset `senders`, a shared keyset `fleet` and the publisher `app`.
    init() throws {
        place = try Workplace()
        let output = try initialise("--sender", "senders", "--shared", "fleet", "--insecure-plaintext", "--yes")
        try #require(output.exit == 0, "\(output)")
    }

    private init(_ place: Workplace) { self.place = place }

    static func empty() throws -> KeystorePlace { KeystorePlace(try Workplace()) }

    /// Runs `init` for host `a`.
    func initialise(_ options: String...) throws -> Output {
        let signs = options.contains("--sender") || !options.contains("--recipient")
        let ofSenders = [
            "--publisher-keystore", file("a/Publisher"), "--pins", file("a/sender-pins.json"), "--topic",
            Workplace.topic,
        ]
        return try run(
            "a",
            [
                "init", "--keystore", file("a/Keys"), "--history", file("a/history"), "--settings",
                file("a/pushcrypt.json"), "--publish-to", file("www"),
            ] + (signs ? ofSenders : []) + options, day: 0, settings: nil)
    }

    func file(_ path: String) -> String { place.folder.file(path).path }

    /// Runs a command on host `a` with its settings.
    @discardableResult
    func run(_ arguments: String..., day: Int = 0, on host: String = "a") throws -> Output {
        try run(host, arguments, day: day, settings: "\(host)/pushcrypt.json")
    }

    /// Runs a command, which must exit 0.
    @discardableResult
    func succeed(_ arguments: String..., day: Int = 0, on host: String = "a") throws -> Output {
        let output = try run(host, arguments, day: day, settings: "\(host)/pushcrypt.json")
        try #require(output.exit == 0, "\(arguments): \(output)")
        return output
    }

    /// Runs a command whose last argument is the id of a key, which may begin with a dash.
    func run(_ command: [String], key kid: String, day: Int = 0, on host: String = "a") throws -> Output {
        let time = Workplace.later(day * Workplace.days)
        return try run(host, command + ["--at", time, "--", kid], day: day, settings: "\(host)/pushcrypt.json")
    }

    func run(
        _ host: String, _ arguments: [String], day: Int, settings: String?, _ variables: [String: String] = [:]
    ) throws -> Output {
        var environment = variables.merging(["PUSHCRYPT_WRITER": host]) { $1 }
        if let settings { environment["PUSHCRYPT_SETTINGS"] = file(settings) }
        let time = Workplace.later(day * Workplace.days)
        let command = arguments.contains("--") ? arguments : arguments + ["--at", time]
        return try CLI.start(command, in: place.folder.url, environment: environment).wait()
    }

    /// Runs `rotate` every 25 days, as long as nothing is due.
    func pass(to day: Int) throws { for day in stride(from: 25, to: day, by: 25) { try succeed("rotate", day: day) } }

    /// Expects that host has nothing to do: `rotate` prints nothing and writes nothing.
    func expectHealthy(day: Int = 0, on host: String = "a", sourceLocation: SourceLocation = #_sourceLocation) throws {
        let first = try run("rotate", day: day, on: host)
        #expect(first.isSuccess, "\(first)", sourceLocation: sourceLocation)
        let before = try place.contents(of: ".")
        let second = try run("rotate", day: day, on: host)
        #expect(second.isSuccess && second.stdout.isEmpty, "\(second)", sourceLocation: sourceLocation)
        #expect(try place.contents(of: ".") == before, sourceLocation: sourceLocation)
    }

    /// Copies a host's files, with settings that name the copies.
    func copy(_ host: String, to other: String) throws {
        try copyFile(host, to: other)
        try place.edit("\(other)/pushcrypt.json") { text in
            ["Keys", "Publisher", "history"].reduce(text) {
                $0.replacing(file("\(host)/\($1)"), with: file("\(other)/\($1)"))
            }
        }
    }

    func copyFile(_ path: String, to other: String) throws {
        if place.has(other) { try place.remove(other) }
        try FileManager.default.copyItem(atPath: file(path), toPath: file(other))
    }

    /// The lines of a keyset's log.
    func log(_ path: String = "a/Keys/senders.keyset") throws -> [[String: Any]] {
        try place.read(path).split(separator: UInt8(ascii: "\n")).dropLast().map { try Payload.object($0) }
    }

    func id(_ path: String = "a/Keys/senders.keyset") throws -> String {
        try #require(try log(path).first?["id"] as? String)
    }

    /// The ids of the keys in the order in which they were added.
    func kids(_ path: String = "a/Keys/senders.keyset") throws -> [String] {
        try log(path).flatMap { line in
            ((line["keys"] as? [String: [String: Any]]) ?? [:]).filter { $0.value["createdAt"] != nil }.keys.sorted()
        }
    }

    /// The payload of the signed set of epoch 1.
    func served() throws -> [String: Any] {
        let document = try place.read("www/\(id()).1.json")
        let text = try #require(try Payload.string("payload", of: document))
        let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = base64.padding(toLength: (base64.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        let payload = try #require(Data(base64Encoded: padded))
        return try #require(try Payload.member("pushcrypt", of: payload) as? [String: Any])
    }

    func servedKeys() throws -> [String: [String: Any]] {
        try #require(try served()["keys"] as? [String: [String: Any]])
    }
}
