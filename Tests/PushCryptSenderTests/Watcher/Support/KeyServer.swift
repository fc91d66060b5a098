import PushCryptKeyFiles
import PushCryptTestSupport

/// A command that wraps data keys while it is up. What it wraps it gives back as it is.
struct KeyServer {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try start()
    }

    /// The verb that is appended lands in the script's arguments.
    var secret: KeysetSecret { .command("test -e '\(folder.path)/up' || exit 1; cat; :") }

    func start() throws { try FileSystem.replace(folder.path + "/up", with: []) }

    func stop() throws { try Folder(folder.path).remove("up") }
}
