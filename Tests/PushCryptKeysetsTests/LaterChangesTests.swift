import PushCryptCore
import PushCryptFiles
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

@Suite("a keyset's file and its audit log")
struct LaterChangesTests {
    private let place: TemporaryFolder
    private var store: KeysetStore { KeysetStore(place.path + "/app") }
    private let actor = Actor(name: "anna", reason: nil)

    init() throws {
        place = try TemporaryFolder()
        let record = try KeyRecord.generate(.sender, type: .p256, psk: false, backend: DefaultBackend.shared)
        try store.create(record, .standard, .plaintext, nil, at: UnixTime(0), by: actor)
    }

    private var files: (keyset: [UInt8], log: [UInt8]) {
        get throws {
            (
                try FileSystem.readFile(store.folder.path + "/keyset.json"),
                try FileSystem.readFile(store.folder.path + "/audit.jsonl")
            )
        }
    }

    private func change(_ keep: Int) throws {
        _ = try store.change(at: UnixTime(0), by: actor, .none) { editor in
            let policy = editor.metadata.policy
            try editor.adopt(
                RotationPolicy(
                    rotateEveryInSeconds: policy.rotateEveryInSeconds,
                    publishLeadInSeconds: policy.publishLeadInSeconds,
                    overlapInSeconds: policy.overlapInSeconds, keep: keep))
        }
    }

    private func replaceLog(_ bytes: [UInt8]) throws {
        try FileSystem.replace(store.folder.path + "/audit.jsonl", with: bytes)
    }

    @Test(
        "a keyset is refused for each number of later lines, and read with the lines that it knows",
        arguments: [1, 2, 7])
    func later(_ count: Int) throws {
        let old = try files
        for number in 1...count { try change(2 + number) }
        let new = try files
        try FileSystem.replace(store.folder.path + "/keyset.json", with: old.keyset)
        #expect(KeystoreError.Code.thrown { try store.folder.load() } == .olderThanLog)
        #expect(KeystoreError.Code.thrown { try Keyset(folder: store.folder.path) } == .olderThanLog)
        #expect(try store.folder.file().laterChanges?.entries.count == count)
        // The file by itself has no log to compare with.
        _ = try Keyset(file: store.folder.path + "/keyset.json")
        try replaceLog(old.log)
        #expect(try store.folder.file().laterChanges == nil)
        try FileSystem.replace(store.folder.path + "/keyset.json", with: new.keyset)
        _ = try store.folder.file()
    }

    @Test("a keyset with its own log is refused beside a public file of a later change, by name")
    func laterPublicFile() throws {
        let old = try files
        let older = try FileSystem.readFile(store.folder.path + "/public.jwks.json")
        try change(3)
        try FileSystem.replace(store.folder.path + "/keyset.json", with: old.keyset)
        try replaceLog(old.log)
        #expect(KeystoreError.Code.thrown { try store.folder.load() } == .olderThanLog)
        #expect(KeystoreError.Code.thrown { try Keyset(folder: store.folder.path) } == .olderThanLog)
        #expect(
            try store.folder.file().laterFile?.description.hasPrefix("public.jwks.json is from a later change, seq 2")
                == true)
        try FileSystem.replace(store.folder.path + "/public.jwks.json", with: older)
        _ = try Keyset(folder: store.folder.path)
    }

    @Test("a keyset without a record of its log is refused beside a log with lines")
    func withoutRecord() throws {
        let text = String(decoding: try files.keyset, as: UTF8.self)
        let edited = text.replacing("\"audit\": ", with: "\"unknown\": ").replacing(/,\n  "digest": "[^"]*"/, with: "")
        try #require(edited != text)
        try FileSystem.replace(store.folder.path + "/keyset.json", with: Array(edited.utf8))
        #expect(KeystoreError.Code.thrown { try store.folder.load() } == .olderThanLog)
    }

    @Test("only the end of the log is read: a damaged beginning of several megabytes hides no later change")
    func longLog() throws {
        let old = try files
        try change(3)
        let lines = Array(repeating: UInt8(ascii: "x"), count: 3 << 20) + [UInt8(ascii: "\n")]
        try replaceLog(lines + (try files.log))
        _ = try store.folder.file()
        try FileSystem.replace(store.folder.path + "/keyset.json", with: old.keyset)
        #expect(KeystoreError.Code.thrown { try store.folder.load() } == .olderThanLog)
    }

    @Test("later lines that are longer than the first part that is read are found")
    func longLines() throws {
        let old = try files
        for _ in 0..<3 {
            _ = try store.change(
                at: UnixTime(0), by: Actor(name: "anna", reason: String(repeating: "y", count: 50_000)), .none
            ) { try $0.add(activatesAt: UnixTime(90 * 86_400)) }
        }
        try FileSystem.replace(store.folder.path + "/keyset.json", with: old.keyset)
        #expect(try store.folder.file().laterChanges?.entries.count == 3)
    }

    @Test("a log of another keyset, an edited one, an empty one and half a line are no later changes")
    func otherLogs() throws {
        let log = try files.log
        try change(3)
        let lines = String(decoding: try files.log, as: UTF8.self).split(separator: "\n").map { String($0) + "\n" }
        let keyset = try files.keyset
        try change(4)
        let third = String(String(decoding: try files.log, as: UTF8.self).split(separator: "\n")[2]) + "\n"
        try FileSystem.replace(store.folder.path + "/keyset.json", with: keyset)
        let edited = lines[0] + lines[1].replacing("anna", with: "anne") + third
        let whole = lines.joined()
        for text in [edited, "", "{", lines[0], whole + "{\"n\":3", whole + "x\n", whole + whole] as [String] {
            try replaceLog(Array(text.utf8))
            #expect(try store.folder.file().laterChanges == nil, "\(text)")
        }
        try replaceLog(log)
        _ = try store.folder.file()
    }

    @Test("a change that another process makes between reading the keyset and reading the log is no reason to refuse")
    func changedMeanwhile() throws {
        let folder = try Folder(store.folder.path)
        let (bytes, access) = try store.folder.read(in: folder)
        try change(3)
        let file = try store.folder.file(bytes, access, in: folder)
        #expect(file.metadata.policy.keep == 3)
    }

    @Test("a log that other users can read is refused") func looseLog() throws {
        try FileSystem.replace(store.folder.path + "/audit.jsonl", with: files.log, mode: 0o644)
        #expect(KeystoreError.Code.thrown { try store.folder.file() } == .looseMode)
    }
}
