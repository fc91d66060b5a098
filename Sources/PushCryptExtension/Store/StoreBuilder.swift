import PushCryptSQLite

/// Puts a new, empty store under the name; its caller has the folder's exclusive lock.
enum StoreBuilder {
    private static let newName = StoreFile.name + ".new"

    static func build(in folder: SharedFolder) throws(SQLiteError) {
        // What a process left that was killed here.
        removeUnfinished(in: folder)
        do throws(SQLiteError) {
            try fill(in: folder)
            // A journal would be taken for one of the new file, and written into it.
            for suffix in ["-journal", "-wal", "-shm"] { folder.remove(StoreFile.name + suffix) }
            try folder.rename(newName, to: StoreFile.name)
        } catch {
            removeUnfinished(in: folder)
            throw error
        }
    }

    private static func fill(in folder: SharedFolder) throws(SQLiteError) {
        #if os(Linux)
        // SQLite would let others read it. Apple's SQLite has to make it itself, with the protection class.
        try folder.create(newName)
        #endif
        let database = try Database(path: folder.path(newName), creates: true, busyTimeout: .zero)
        try folder.restrict(newName)
        try database.script(StoreSchema.creation)
    }

    private static func removeUnfinished(in folder: SharedFolder) {
        folder.remove(newName)
        folder.remove(newName + "-journal")
    }
}
