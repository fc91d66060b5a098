import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptSender
import PushCryptTestSupport
import Testing

/// A temporary folder, with the commands that most tests begin with.
struct Workplace {
    static let topic = "com.example.app"
    /// The time of most tests.
    static let now = "2026-03-01T09:00:00Z"
    static let inner = Data(#"{"aps":{"alert":{"title":"Results","body":"All clear."},"badge":2},"n":1.50}"#.utf8)

    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    func run(_ arguments: String..., stdin: Data = Data()) throws -> Output {
        try run(arguments, stdin: stdin)
    }

    func run(_ arguments: [String], stdin: Data = Data()) throws -> Output {
        try CLI.run(arguments, stdin: stdin, in: folder.url)
    }

    func shell(_ script: String, stdin: Data = Data()) throws -> Output {
        try CLI.shell(script, stdin: stdin, in: folder.url)
    }

    /// Creates a keyset at `now` and returns its kid. The tool creates it only if there are options other than those of the
    /// key and the policy.
    @discardableResult
    func create(_ path: String, _ kind: String, _ options: String...) throws -> String {
        try create(path, kind, options, at: Self.now)
    }

    func create(_ path: String, _ kind: String, _ options: [String], at time: String) throws -> String {
        if let kid = try make(path, kind, options, at: time) { return kid }
        let output = try run(
            ["keys", "create", path, "--kind", kind, "--insecure-plaintext", "--at", time] + options)
        try #require(output.exit == 0, "\(output)")
        return output.line
    }

    /// Writes the output of `keys export` to a file.
    @discardableResult
    func export(_ path: String, to file: String, _ options: String...) throws -> Data {
        try export(path, to: file, options)
    }

    @discardableResult
    func export(_ path: String, to file: String, _ options: [String]) throws -> Data {
        let output = try run(["keys", "export", path, "--at", Self.now] + options)
        try #require(output.isSuccess, "\(output)")
        try write(output.stdout, to: file)
        return output.stdout
    }

    func seal(to keys: String, _ options: String..., payload: Data = inner) throws -> Output {
        try run(["seal", "--to", keys] + Self.bare(options) + Self.atTopic(options), stdin: payload)
    }

    func open(keys: String, _ options: String..., payload: Data) throws -> Output {
        try run(["open", "--keys", keys] + Self.atTopic(options), stdin: payload)
    }

    /// Seals a payload, which must succeed.
    func sealed(to keys: String, _ options: String..., payload: Data = inner) throws -> Data {
        let time = try #require(UnixTime(rfc3339: Self.now))
        if options.isEmpty, let push = sealedByLibrary(to: keys, at: time, payload: payload) {
            return push + Data("\n".utf8)
        }
        let output = try run(["seal", "--to", keys] + Self.bare(options) + Self.atTopic(options), stdin: payload)
        try #require(output.isSuccess, "\(output)")
        return output.stdout
    }

    /// The payload that `seal --to KEYS` prints: the library takes less time than a debug build of the tool.
    ///
    /// - Parameters:
    ///   - device: the device to seal to with a key that is derived from a shared key.
    ///   - sender: the keyset to sign with.
    ///   - secret: of the keysets.
    /// - Returns: nil for private recipient keys in a file, to which only the tool seals, and for encrypted keys without
    ///   the secret.
    func sealedByLibrary(
        to keys: String, device: String? = nil, by sender: String? = nil, _ secret: KeysetSecret? = nil,
        at time: UnixTime, payload: Data = inner
    ) -> Data? {
        let isKeyset = has(keys + KeysetLocation.suffix)
        func keyset(_ keys: String) throws -> Keyset {
            let file = has(keys + KeysetLocation.suffix) ? keys + KeysetLocation.suffix : keys
            return try Keyset(file: folder.file(file).path, secret: secret)
        }
        func chosen() throws -> Keyset {
            let all = try keyset(keys)
            if let device { return try all.device(DeviceID(device)) }
            return isKeyset && all.kind == .recipient ? try all.publicKeyset(keepingPSK: true) : all
        }
        guard let chosen = try? chosen(),
            let recipient = try? chosen.recipient(at: time),
            let signer = try? Optional(sender.map { try keyset($0).senderKey(at: time) }),
            let push = try? Sealer(topic: Self.topic, signer: signer.map(Signer.key), clock: { time })
                .seal(payload, to: recipient, placeholder: .standard)
        else { return nil }
        return push.json
    }

    /// Most tests with a shared key seal to the key itself.
    static func bare(_ options: [String]) -> [String] { options.contains("--device") ? [] : ["--bare"] }

    static func atTopic(_ options: [String]) -> [String] {
        let time = options.contains("--at") ? [] : ["--at", now]
        return (options.contains("--topic") ? [] : ["--topic", topic]) + time + options
    }

    func write(_ data: Data, to path: String, mode: Int = 0o600) throws {
        try data.write(to: folder.file(path))
        try setMode(mode, of: path)
    }

    func read(_ path: String) throws -> Data {
        try Data(contentsOf: folder.file(path))
    }

    func makeFolder(_ path: String, mode: Int = 0o700) throws {
        try FileManager.default.createDirectory(at: folder.file(path), withIntermediateDirectories: true)
        try setMode(mode, of: path)
    }

    func setMode(_ mode: Int, of path: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file(path).path)
    }

    func mode(of path: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(path).path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    /// The names in `path`, including hidden ones.
    func names(in path: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(path).path).sorted()
    }

    /// Copies the published demo keys with the modes of a clone: readable for all users.
    func copyDemoKeys() throws {
        try makeFolder("Keys")
        try makeFolder("Keys/demo", mode: 0o755)
        for name in ["recipient", "sender", "shared"] {
            let file = "Keys/demo/\(name).keyset"
            try write(Data(contentsOf: Repository.root.appendingPathComponent(file)), to: file, mode: 0o644)
        }
    }
}

extension Workplace {
    /// The time this many seconds after `now`.
    static func later(_ seconds: Int) -> String { String(1_772_355_600 + seconds) }
    static let days = 86_400

    /// Runs a command at `now`, which must succeed.
    @discardableResult
    func succeed(_ arguments: String..., at time: String = now) throws -> Output {
        let output = try run(arguments + ["--at", time])
        try #require(output.exit == 0, "\(output)")
        return output
    }

    /// Edits a file and keeps its mode.
    func edit(_ path: String, _ change: (String) -> String) throws {
        let mode = try #require(try mode(of: path))
        let old = try read(path)
        let new = change(String(decoding: old, as: UTF8.self))
        try #require(Data(new.utf8) != old, "the edit changes nothing")
        try write(Data(new.utf8), to: path, mode: mode)
    }

    /// The contents of every file below `path`, by name.
    func contents(of path: String) throws -> [String: Data] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.file(path).path)
        return try Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                let file = folder.file(path).appendingPathComponent(name)
                guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return nil }
                return (name, try Data(contentsOf: file))
            })
    }

    func remove(_ path: String) throws {
        try FileManager.default.removeItem(at: folder.file(path))
    }

    func move(_ path: String, to other: String) throws {
        try FileManager.default.moveItem(at: folder.file(path), to: folder.file(other))
    }

    func has(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.file(path).path)
    }
}

/// The files of a workplace, to copy into others, so that a slow set-up runs once.
struct PlaceSnapshot: Sendable {
    private let entries: [Entry]

    private struct Entry: Sendable {
        let path: String
        let mode: Int
        /// nil for a folder.
        let data: Data?
    }

    init(_ place: Workplace) throws {
        // Sorted, a folder precedes its contents.
        entries = try FileManager.default.subpathsOfDirectory(atPath: place.folder.path).sorted().map { path in
            let values = try place.folder.file(path).resourceValues(forKeys: [.isDirectoryKey])
            let data = values.isDirectory == true ? nil : try place.read(path)
            return Entry(path: path, mode: try #require(try place.mode(of: path)), data: data)
        }
    }

    /// Creates another workplace with the same files.
    func place() throws -> Workplace {
        let place = try Workplace()
        for entry in entries {
            if let data = entry.data {
                try place.write(data, to: entry.path, mode: entry.mode)
            } else {
                try place.makeFolder(entry.path, mode: entry.mode)
            }
        }
        return place
    }
}

enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}
