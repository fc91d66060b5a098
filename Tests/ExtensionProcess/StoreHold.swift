import Foundation
import PushCryptExtension
import PushCryptFiles
import PushCryptSQLite

/// `store-hold FOLDER folder|database`: takes a lock, says `held`, and keeps it until it is killed.
enum StoreHold {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw ExtensionProcess.Misuse() }
        switch arguments[1] {
        case "folder":
            try SharedFolder(arguments[0]).withLock(.exclusive, timeout: .zero) { wait() }
        case "database":
            let database = try Database(path: arguments[0] + "/pushcrypt.sqlite", busyTimeout: .zero)
            try database.transaction { wait() }
        default: throw ExtensionProcess.Misuse()
        }
    }

    private static func wait() {
        say("held")
        while true { pause() }
    }
}
