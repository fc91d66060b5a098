public import PushCryptExtension
import PushCryptPrimitives

/// A network for the extension: it serves files from memory, in the time of the simulated clock, and keeps what was posted.
public final class SimulatedNetwork: HTTPTransport {
    private struct File {
        let body: [UInt8]
        let duration: Duration
    }

    private struct State {
        var files: [String: File] = [:]
        var delay: Duration
        var isOffline = false
        var posts: [HTTPPost] = []
        var requested: [String] = []
    }

    private static let pieceByteCount = 64 * 1024

    private let clock: SimulatedClock
    private let policy: TransferPolicy
    private let memory: SimulatedMemory?
    private let state: Locked<State>

    /// Creates a network without files.
    ///
    /// - Parameters:
    ///   - delay: how long every transfer takes, in addition to the duration of its file.
    ///   - policy: the addresses that may be requested, as for `URLSessionTransport`.
    ///   - memory: counts each piece of a file while it is received; nil counts none.
    public init(
        _ clock: SimulatedClock, delay: Duration = .zero, policy: TransferPolicy = TransferPolicy(),
        memory: SimulatedMemory? = nil
    ) {
        self.clock = clock
        self.policy = policy
        self.memory = memory
        state = Locked(State(delay: delay))
    }

    /// How long every transfer takes, in addition to the duration of its file.
    public var delay: Duration {
        get { state.withLock { $0.delay } }
        set { state.withLock { $0.delay = newValue } }
    }

    /// Whether every transfer fails with `TransferError.Code.network`: a new one at once, and a running one at its end.
    public var isOffline: Bool {
        get { state.withLock { $0.isOffline } }
        set { state.withLock { $0.isOffline = newValue } }
    }

    /// What was posted, in order.
    public var posts: [HTTPPost] { state.withLock { $0.posts } }

    /// The addresses that were requested, in order, also those without a file.
    public var requested: [String] { state.withLock { $0.requested } }

    /// Serves a file.
    ///
    /// - Parameter duration: how long its transfer takes.
    public func serve(_ body: [UInt8], at address: String, for duration: Duration = .zero) {
        state.withLock { $0.files[address] = File(body: body, duration: duration) }
    }

    /// Fetches a file. Throws `TransferError` with `addressRefused` for an address that the policy doesn't allow, such as one
    /// with `http`; with `status` if there is no file, and with `network` if the network is off line.
    public func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        try policy.check(address)
        let file = state.withLock { state in
            state.requested.append(address)
            return state.files[address]
        }
        try await pass(file?.duration ?? .zero)
        guard let file else { throw TransferError(.status, "404") }
        var rest = file.body[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Self.pieceByteCount))
            memory?.use(piece.count)
            defer { memory?.release(piece.count) }
            try receive(piece)
            rest = rest.dropFirst(Self.pieceByteCount)
        }
    }

    /// Keeps a post in ``posts``. Throws `TransferError` with `addressRefused` or `network`, as ``get(_:receive:)`` does.
    public func post(_ post: HTTPPost) async throws {
        try policy.check(post.address)
        try await pass(.zero)
        state.withLock { $0.posts.append(post) }
    }

    private func pass(_ duration: Duration) async throws {
        try checkOnline()
        let total = delay + duration
        if total > .zero { try await clock.sleep(for: total) }
        try checkOnline()
    }

    private func checkOnline() throws {
        if isOffline { throw TransferError(.network, "the simulated network is off line") }
    }
}
