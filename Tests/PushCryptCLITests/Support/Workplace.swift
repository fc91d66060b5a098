import Foundation
import PushCryptTestSupport
import Testing

/// A folder to work in, with the commands that most tests begin with.
struct Workplace {
    static let topic = "com.example.app"
    /// When most tests take place.
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

    /// Makes a keyset at `now` and returns its kid; with options by the tool.
    @discardableResult
    func create(_ path: String, _ kind: String, _ options: String...) throws -> String {
        guard !options.isEmpty else { return try make(path, kind, at: Self.now) }
        let output = try run(
            ["keys", "create", path, "--kind", kind, "--insecure-plaintext", "--at", Self.now] + options)
        try #require(output.isSuccess, "\(output)")
        return output.line
    }

    /// Writes what `keys export` prints to a file.
    @discardableResult
    func export(_ path: String, to file: String, _ options: String...) throws -> Data {
        let output = try run(["keys", "export", path, "--at", Self.now] + options)
        try #require(output.isSuccess, "\(output)")
        try write(output.stdout, to: file)
        return output.stdout
    }

    func seal(to keys: String, _ options: String..., payload: Data = inner) throws -> Output {
        try run(["seal", "--to", keys] + Self.atTopic(options), stdin: payload)
    }

    func open(keys: String, _ options: String..., payload: Data) throws -> Output {
        try run(["open", "--keys", keys] + Self.atTopic(options), stdin: payload)
    }

    /// A sealed payload, which must come about.
    func sealed(to keys: String, _ options: String..., payload: Data = inner) throws -> Data {
        let output = try run(["seal", "--to", keys] + Self.atTopic(options), stdin: payload)
        try #require(output.isSuccess, "\(output)")
        return output.stdout
    }

    private static func atTopic(_ options: [String]) -> [String] {
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

    /// Every name below `path`, hidden ones too.
    func names(in path: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(path).path).sorted()
    }

    /// Puts the published demo keys in place as a clone has them: readable for everybody.
    func copyDemoKeys() throws {
        for name in ["recipient", "sender", "shared"] {
            try makeFolder("Keys/demo/\(name)", mode: 0o755)
            let source = Repository.root.appendingPathComponent("Keys/demo/\(name)/keyset.json")
            try write(try Data(contentsOf: source), to: "Keys/demo/\(name)/keyset.json", mode: 0o644)
        }
    }
}

enum Repository {
    /// Three folders above Tests/PushCryptCLITests/Support.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
}
