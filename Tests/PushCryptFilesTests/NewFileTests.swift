import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@Suite("NewFile")
struct NewFileTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/file" }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test("a published file has its name, its content and mode 0600", arguments: [[], [3], [1, 0, 3_000_000]])
    func publish(_ counts: [Int]) throws {
        let pieces = counts.map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0) }
        do {
            let file = try NewFile(path)
            for piece in pieces {
                try file.append(piece)
                file.markWhole()
            }
            #expect(try folder.names() == [URL(fileURLWithPath: file.temporaryPath).lastPathComponent])
            #expect(!FileSystem.exists(path))
            try file.publish()
        }
        #expect(try folder.names() == ["file"])
        #expect(try folder.mode(of: "file") == 0o600)
        #expect(try FileSystem.readFile(path) == pieces.flatMap(\.self))
    }

    @Test("bytes after the last complete mark are cut off at publication")
    func cut() throws {
        let file = try NewFile(path)
        try file.append([1, 2])
        file.markWhole()
        try file.append([3])
        try file.append([4, 5])
        try file.publish()
        #expect(try FileSystem.readFile(path) == [1, 2])
    }

    @Test("a file that isn't published leaves nothing behind")
    func unpublished() throws {
        do {
            let file = try NewFile(path)
            try file.append([1])
            file.markWhole()
        }
        #expect(try folder.names().isEmpty)
    }

    @Test("init refuses a name that is taken by anything", arguments: ["file", "folder", "dangling link"])
    func taken(_ what: String) throws {
        switch what {
        case "file": try FileSystem.replace(path, with: [7])
        case "folder": try Folder.makeIfMissing(path)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        }
        let error = #expect(throws: FileError.self) { try NewFile(path) }
        #expect(error?.code == .alreadyExists)
        #expect(error?.reason == "\(path) exists already")
        #expect(try folder.names() == ["file"])
    }

    /// Another process took the name first: both files stay.
    @Test(
        "publish refuses a name that was taken meanwhile, and keeps the temporary file",
        arguments: ["file", "folder", "dangling link"])
    func takenMeanwhile(_ what: String) throws {
        let temporary: String
        do {
            let file = try NewFile(path)
            temporary = file.temporaryPath
            try file.append([1, 2])
            file.markWhole()
            switch what {
            case "file": try FileSystem.replace(path, with: [7])
            case "folder": try Folder.makeIfMissing(path)
            default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
            }
            let error = #expect(throws: FileError.self) { try file.publish() }
            #expect(error?.code == .alreadyExists)
            #expect(error?.reason.hasSuffix("the data is in \(temporary)") == true)
        }
        #expect(try FileSystem.readFile(temporary) == [1, 2])
        #expect(try folder.names().count == 2)
        if what == "file" { #expect(try FileSystem.readFile(path) == [7]) }
    }

    @Test("init in a missing folder reports that the file can't be created")
    func missing() throws {
        let error = #expect(throws: FileError.self) { try NewFile(folder.path + "/none/file") }
        #expect(error?.code == .cannotCreate)
    }
}
