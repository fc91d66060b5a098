import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

/// Another user who can write to the parent folder replaces an open folder with a link or another folder.
@Suite("An open folder that another user replaces")
struct ReplacedFolderTests {
    private let place: TemporaryFolder
    private let parent: Folder

    init() throws {
        place = try TemporaryFolder()
        try Folder.makeIfMissing(place.path + "/parent")
        try Folder.makeIfMissing(place.path + "/parent/open")
        try FileSystem.replace(place.path + "/parent/open/own", with: [1])
        try Folder.makeIfMissing(place.path + "/elsewhere")
        try FileSystem.replace(place.path + "/elsewhere/precious", with: [2])
        parent = try Folder(place.path + "/parent")
    }

    /// Moves `open` away and puts a link or another folder in its place.
    private func replace(_ what: String) throws {
        let (open, moved) = (place.path + "/parent/open", place.path + "/parent/moved")
        try FileManager.default.moveItem(atPath: open, toPath: moved)
        if what == "link" {
            try FileManager.default.createSymbolicLink(atPath: open, withDestinationPath: place.path + "/elsewhere")
        } else {
            try FileManager.default.copyItem(atPath: place.path + "/elsewhere", toPath: open)
        }
    }

    @Test("Folder.names lists the open folder and not its replacement", arguments: ["link", "folder"])
    func names(_ what: String) throws {
        let open = try Folder(place.path + "/parent/open")
        try replace(what)
        #expect(try open.names() == ["own"])
    }

    @Test("Folder.lock reports that the folder was replaced", arguments: ["link", "folder"])
    func lock(_ what: String) throws {
        let open = try Folder(place.path + "/parent/open")
        try replace(what)
        let error = #expect(throws: FileError.self) { try open.lock(.exclusive, .none) }
        #expect(error?.code == .changedMeanwhile)
    }

    @Test("Folder refuses to open, read or append through a link, unless followingLinks is true")
    func links() throws {
        try replace("link")
        let paths = place.path + "/parent/open"
        for body in [{ _ = try Folder(paths) }, { _ = try parent.read("open") }] {
            let error = #expect(throws: FileError.self) { try body() }
            #expect(error?.code == .symbolicLink)
            #expect(error?.reason == "\(paths) is a symbolic link")
        }
        try FileManager.default.createSymbolicLink(
            atPath: place.path + "/parent/log", withDestinationPath: "../elsewhere/precious")
        #expect(throws: FileError.self) { try parent.append([3], to: "log") }
        #expect(try FileSystem.readFile(place.path + "/elsewhere/precious") == [2])
        #expect(try Folder(paths, followingLinks: true).names() == ["precious"])
    }
}

@Suite("Folder")
struct FolderTests {
    private let place: TemporaryFolder
    private let folder: Folder

    init() throws {
        place = try TemporaryFolder()
        folder = try Folder(place.path)
    }

    @Test("names returns all names sorted, including hidden ones, at every call")
    func names() throws {
        #expect(try folder.names().isEmpty)
        for name in ["b", ".a", "c"] { _ = try folder.makeFile(name) }
        for _ in 1...2 { #expect(try folder.names() == [".a", "b", "c"]) }
        try folder.remove("b")
        try folder.remove("b")
        #expect(try folder.names() == [".a", "c"])
    }

    @Test("names throws the error of a read that fails, instead of returning the names before it")
    func failedRead() throws {
        _ = try folder.makeFile("file")
        let file = try folder.file("file")
        // readdir(3) of a file fails with ENOTDIR.
        let error = #expect(throws: FileError.self) {
            try folder.names { reader in #expect(dup2(file.descriptor, reader) == reader) }
        }
        #expect(error?.systemError == ENOTDIR)
        #expect(try folder.names() == ["file"])
    }

    @Test("replace calls back after each step in order, and leftovers finds the temporary file until the rename")
    func steps() throws {
        var steps: [String] = []
        var leftovers: [Int] = []
        try folder.replace("file", with: [1]) { step in
            steps.append(step)
            leftovers.append((try? folder.leftovers())?.count ?? -1)
        }
        #expect(steps == ["created", "written", "synced", "renamed"])
        #expect(leftovers == [1, 1, 1, 0])
    }

    @Test("publish refuses a name that is taken by anything", arguments: ["file", "folder", "dangling link"])
    func publish(_ what: String) throws {
        try Folder.makeIfMissing(place.path + "/new")
        switch what {
        case "file": _ = try folder.makeFile("taken")
        case "folder": try Folder.makeIfMissing(place.path + "/taken")
        default:
            try FileManager.default.createSymbolicLink(atPath: place.path + "/taken", withDestinationPath: "nowhere")
        }
        let error = #expect(throws: FileError.self) { try folder.publish("new", as: "taken") }
        #expect(error?.code == .alreadyExists)
        try folder.publish("new", as: "free")
        #expect(try folder.names() == ["free", "taken"])
    }

    @Test("a pipe in place of a file is refused without waiting for a writer")
    func pipe() throws {
        try #require(unsafe mkfifo(place.path + "/pipe", 0o600) == 0)
        let error = #expect(throws: FileError.self) { try folder.read("pipe") }
        #expect(error?.code == .notAFile)
    }

    @Test("Folder(above:) opens the current folder for a path without a slash, and its errors name only the file")
    func current() throws {
        let error = #expect(throws: FileError.self) { try Folder(above: "name").read("no such file here") }
        #expect(error?.code == .notFound)
        #expect(error?.reason.hasPrefix("can't read no such file here: ") == true)
    }

    @Test("an empty path is reported as not found and doesn't mean the current folder")
    func empty() {
        for body in [{ _ = try Folder("") }, { _ = try FileSystem.names(in: "") }] {
            #expect(FileError.Code.notFound == #expect(throws: FileError.self) { try body() }?.code)
        }
    }
}

@Suite("FileLock")
struct FileLockTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
    }

    private func lock(_ body: (FileLock) throws -> Void = { _ in }) throws {
        try body(FileLock(in: Folder(place.path), named: "own.lock"))
    }

    @Test("a folder that other users can open is not locked, so their lock on it has no effect")
    func openFolder() throws {
        try place.setMode(0o755, of: ".")
        let other = try Folder(place.path)
        try other.lock(.exclusive, .none)
        try lock { try $0.lock(.exclusive, .none) }
        #expect(try place.names() == ["own.lock"])
        #expect(try place.mode(of: "own.lock") == 0o600)
    }

    @Test("a private folder is locked itself, without a lock file in it")
    func ownFolder() throws {
        let other = try Folder(place.path)
        try other.lock(.exclusive, .none)
        let error = #expect(throws: FileError.self) { try lock { try $0.lock(.exclusive, .none) } }
        #expect(error?.code == .busy)
        #expect(try place.names().isEmpty)
    }

    @Test(
        "a folder of another user is refused, even if that user holds its lock",
        .enabled(if: geteuid() == 0, "only root can give folders away"), arguments: [0o700, 0o755])
    func foreignFolder(mode: Int) throws {
        try place.setMode(mode, of: ".")
        try #require(unsafe chown(place.path, 65_534, 65_534) == 0)
        let owner = try Folder(place.path)
        try owner.lock(.exclusive, .none)
        let error = #expect(throws: FileError.self) { try lock { try $0.lock(.exclusive, .none) } }
        #expect(error?.code == .foreignOwner)
        #expect(error?.reason.hasPrefix("\(place.path) belongs to user 65534") == true)
        #expect(try place.names().isEmpty)
    }

    @Test("one process at a time holds an exclusive lock, and many hold a shared one", arguments: [0o700, 0o755])
    func kinds(mode: Int) throws {
        try place.setMode(mode, of: ".")
        try lock { first in
            try lock { second in
                try first.lock(.shared, .none)
                try second.lock(.shared, .none)
                second.unlock()
                for wait in [FileLock.Wait.none, .until(.now), .until(.now + .milliseconds(5))] {
                    let error = #expect(throws: FileError.self) { try second.lock(.exclusive, wait) }
                    #expect(error?.code == .busy)
                }
                first.unlock()
                try second.lock(.exclusive, .forever)
            }
            try first.lock(.exclusive, .none)
        }
    }

    @Test("a lock file that other users can open, or that is a link, is refused", arguments: [0o666, 0o640, nil])
    func looseFile(mode: Int?) throws {
        try place.setMode(0o755, of: ".")
        if let mode {
            try FileSystem.replace(place.path + "/own.lock", with: [], mode: mode)
        } else {
            try FileManager.default.createSymbolicLink(atPath: place.path + "/own.lock", withDestinationPath: "other")
        }
        let error = #expect(throws: FileError.self) { try lock() }
        #expect(error?.code == (mode == nil ? .symbolicLink : .looseMode))
        #expect(try place.names() == ["own.lock"])
    }
}
