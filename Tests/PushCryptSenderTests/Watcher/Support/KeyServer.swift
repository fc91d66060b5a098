import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport

/// A command that wraps data keys while it is up: it turns the highest bit of each byte.
struct KeyServer {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try start()
    }

    /// The verb that is appended lands in the script's arguments.
    var secret: KeysetSecret {
        .command(#"test -e '\#(folder.path)/up' || exit 1; LC_ALL=C tr '\000-\377' '\200-\377\000-\177'; :"#)
    }

    func start() throws { try FileSystem.replace(folder.path + "/up", with: []) }

    func stop() throws { try Folder(folder.path).remove("up") }
}
