/// How far the work on a directory is.
package struct DirectoryProgress: Hashable, Sendable {
    package enum Phase: Hashable, Sendable {
        /// For an index: of bytes of the file.
        case reading
        /// For an index: of lines.
        case sorting
        /// Of records that are checked or copied.
        case visiting
    }

    package let phase: Phase
    package let done: Int64
    /// nil for the records of a database, which would be read once more to be counted.
    package let total: Int64?
}
