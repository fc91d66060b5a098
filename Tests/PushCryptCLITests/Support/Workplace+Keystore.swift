import Foundation
import PushCryptTestSupport
import Testing

extension Workplace {
    /// As many seconds after `now`.
    static func later(_ seconds: Int) -> String { String(1_772_355_600 + seconds) }
    static let days = 86_400

    /// Runs a command at `now` that must succeed; returns what it says.
    @discardableResult
    func succeed(_ arguments: String..., at time: String = now) throws -> Output {
        let output = try run(arguments + ["--at", time])
        try #require(output.exit == 0, "\(output)")
        return output
    }

    /// A command for --wrap-command, which costs next to nothing: it adds a number to every byte, or takes it away.
    func writeWrapCommand(_ name: String, _ shift: Int = 1) throws {
        let script = """
            #!/bin/sh
            from='\\000-\\377'; to='\\00\(shift)-\\377\\000-\\00\(shift - 1)'
            if [ "$1" = wrap ]; then LC_ALL=C tr "$from" "$to"; else LC_ALL=C tr "$to" "$from"; fi

            """
        try write(Data(script.utf8), to: name, mode: 0o700)
    }

    /// Lets every file below `path` have been written at that time.
    func settle(_ path: String, at time: Double = 1_772_355_600) throws {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.file(path).path)
        for name in names + ["."] { try setWritten(at: time, "\(path)/\(name)") }
    }

    func setWritten(at time: Double, _ path: String) throws {
        let file = folder.file(path).path
        let type = try FileManager.default.attributesOfItem(atPath: file)[.type] as? FileAttributeType
        guard type != .typeSymbolicLink else { return }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: file)
    }

    /// Changes the text of a file and keeps its mode; a keyset's digest goes, as with somebody who means the edit.
    func edit(_ path: String, _ change: (String) -> String) throws {
        let mode = try #require(try mode(of: path))
        let old = path.hasSuffix("keyset.json") ? try readForEditing(path) : try read(path)
        let new = change(String(decoding: old, as: UTF8.self))
        try #require(Data(new.utf8) != old, "the edit changes nothing")
        try write(Data(new.utf8), to: path, mode: mode)
    }

    /// Every file below `path` with its content.
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

    /// Adds a key and takes back what the change wrote after the keyset itself, as a crash in between leaves it.
    func interruptedAdd(_ path: String, _ options: String...) throws {
        let names = ["public.jwks.json", "audit.jsonl"].filter { has("\(path)/\($0)") }
        let before = try names.map { try read("\(path)/\($0)") }
        let output = try run(["keys", "add", path, "--at", Self.now] + options)
        try #require(output.isSuccess, "\(output)")
        for (name, data) in zip(names, before) {
            try write(data, to: "\(path)/\(name)", mode: name == "audit.jsonl" ? 0o600 : 0o644)
        }
    }
}
