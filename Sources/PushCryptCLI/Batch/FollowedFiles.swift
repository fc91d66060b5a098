import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// A value that is read from files, and read again after one of them changed.
///
/// ```
/// same stat of each file    the value in use
/// another stat              read again: the new value, or a line on stderr and the value in use
/// a temporary failure       read again at the next use
/// a pipe among the files    read once
/// ```
final class FollowedFiles<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var statuses: [FileStatus?]
        var refusal: String?
    }

    private let paths: [String]
    private let name: String
    private let readAgain: @Sendable (Value) throws -> Value
    private let state: Locked<State>
    private let isFollowed: Bool

    /// Reads the first value.
    ///
    /// - Parameters:
    ///   - paths: the files, with links followed.
    ///   - name: what they contain, for stderr: `Keys/fleet`.
    ///   - read: reads the files for the first time.
    ///   - readAgain: reads them again. It gets the value in use, and is called on any thread.
    init(
        _ paths: [String], named name: String, read: () throws -> Value,
        again readAgain: @escaping @Sendable (Value) throws -> Value
    ) throws {
        self.paths = paths
        self.name = name
        self.readAgain = readAgain
        // Before the files are read, so that a change in between is detected.
        let statuses = Self.statuses(paths)
        isFollowed = statuses.allSatisfy { $0?.kind == .file }
        state = Locked(State(value: try read(), statuses: statuses))
    }

    /// The value of the files as they are now; the last valid one if they can't be used.
    var current: Value {
        guard isFollowed else { return state.withLock { $0.value } }
        let statuses = Self.statuses(paths)
        return state.withLock { state in
            guard statuses != state.statuses else { return state.value }
            let result = Result {
                // Anything else could block or is no file.
                guard statuses.allSatisfy({ $0?.kind == .file }) else { throw Failure(.noInput, "it is no file now") }
                return try readAgain(state.value)
            }
            switch result {
            case .success(let value):
                state = State(value: value, statuses: statuses)
                StandardStreams.writeError("\(name): new keys in use")
            case .failure(let error):
                let refusal = Failure(error).message.withoutPath(name)
                if refusal != state.refusal {
                    StandardStreams.writeError("\(name): new keys rejected; keeping the previous ones: \(refusal)")
                }
                state.refusal = refusal
                if !RawKeyset.isTemporary(error) { state.statuses = statuses }
            }
            return state.value
        }
    }

    private static func statuses(_ paths: [String]) -> [FileStatus?] {
        paths.map { FileStatus($0, followingLinks: true) }
    }
}
