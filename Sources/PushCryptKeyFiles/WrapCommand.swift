package import PushCryptPrimitives

#if canImport(Darwin)
import Darwin
private typealias FileActions = posix_spawn_file_actions_t?
#elseif canImport(Glibc)
import Glibc
private typealias FileActions = posix_spawn_file_actions_t
#elseif canImport(Musl)
import Musl
private typealias FileActions = posix_spawn_file_actions_t
#endif

/// An external command that wraps and unwraps a data key: the client of a KMS, an HSM or Vault.
///
/// ```
/// COMMAND wrap     stdin: 32 bytes, the data key       stdout: 1 to 4,096 bytes, whatever unwraps to it
/// COMMAND unwrap   stdin: those bytes                  stdout: the 32 bytes
/// exit status 0; anything else is a failure, explained on stderr, which is passed on
/// ```
/// Both are raw bytes. The command runs by /bin/sh with the environment of this process. It is never taken from a
/// keyset's file: whoever can write one could have anything run.
package struct WrapCommand: Sendable {
    package static let maximumByteCount = 4_096
    private let command: String

    package init(_ command: String) {
        self.command = command
    }

    /// - Throws: `KeyStoreError` with `wrapCommandFailed`.
    package func wrap(_ dataKey: SecretBytes) throws -> [UInt8] {
        var input = Array(dataKey.bytes)
        defer { wipe(&input) }
        let wrapped = try run("wrap", input)
        guard !wrapped.isEmpty else { throw failure("wrap", "it printed nothing") }
        return wrapped
    }

    /// - Throws: `KeyStoreError` with `wrapCommandFailed`.
    package func unwrap(_ wrapped: [UInt8], count: Int) throws -> SecretBytes {
        var key = try run("unwrap", wrapped)
        defer { wipe(&key) }
        guard key.count == count else { throw failure("unwrap", "it printed \(key.count) bytes, not \(count)") }
        return SecretBytes(copying: key.bytes)
    }

    private func run(_ verb: String, _ input: [UInt8]) throws -> [UInt8] {
        // Sockets and not pipes: a child that ends without reading is then an error and not a SIGPIPE.
        let (toChild, childIn) = try socketPair(verb)
        let (fromChild, childOut) = try socketPair(verb)
        defer { close(fromChild) }
        let child: pid_t
        do {
            defer { for descriptor in [childIn, childOut] { close(descriptor) } }
            child = try spawn(verb, stdin: childIn, stdout: childOut)
        } catch {
            close(toChild)
            throw error
        }
        unsafe input.withUnsafeBytes { _ = unsafe send(toChild, $0.baseAddress, $0.count, Self.sendFlags) }
        close(toChild)
        var output = [UInt8]()
        defer { wipe(&output) }
        let isComplete = read(fromChild, into: &output)
        let status = try exitStatus(of: child, verb)
        guard status == 0 else { throw failure(verb, "exit status \(status)") }
        guard isComplete else { throw failure(verb, "it printed more than \(Self.maximumByteCount) bytes") }
        return output
    }

    /// - Returns: false for more than the limit.
    private func read(_ descriptor: Int32, into output: inout [UInt8]) -> Bool {
        output.reserveCapacity(Self.maximumByteCount + 1)
        var chunk = [UInt8](repeating: 0, count: Self.maximumByteCount + 1)
        defer { wipe(&chunk) }
        while output.count <= Self.maximumByteCount {
            let room = Self.maximumByteCount + 1 - output.count
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, room, 0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return true }
            output += chunk[..<count]
        }
        return false
    }

    private func spawn(_ verb: String, stdin: Int32, stdout: Int32) throws -> pid_t {
        var actions = unsafe Self.noFileActions
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { throw failure(verb, "no memory") }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        var child = pid_t()
        let words: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("sh"), strdup("-c"), strdup("\(command) \(verb)")]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        let result = unsafe posix_spawn(&child, "/bin/sh", &actions, nil, words + [nil], environ)
        guard result == 0 else { throw failure(verb, unsafe String(cString: strerror(result))) }
        return child
    }

    private func exitStatus(of child: pid_t, _ verb: String) throws -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) == -1 {
            guard errno == EINTR else { throw failure(verb, unsafe String(cString: strerror(errno))) }
        }
        return status & 0x7f == 0 ? (status >> 8) & 0xff : 128 + status & 0x7f
    }

    private func socketPair(_ verb: String) throws -> (Int32, Int32) {
        var pair: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Self.streamType, 0, &pair) == 0 else {
            throw failure(verb, unsafe String(cString: strerror(errno)))
        }
        #if canImport(Darwin)
        for descriptor in pair {
            var on: Int32 = 1
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        #endif
        return (pair[0], pair[1])
    }

    private func failure(_ verb: String, _ reason: String) -> KeyStoreError {
        KeyStoreError(.wrapCommandFailed, "the command that wraps data keys failed to \(verb): \(reason)")
    }

    #if canImport(Darwin)
    private static var noFileActions: FileActions { nil }
    private static let streamType = SOCK_STREAM
    private static let sendFlags: Int32 = 0
    #else
    private static var noFileActions: FileActions { unsafe FileActions() }
    private static let streamType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif
}
