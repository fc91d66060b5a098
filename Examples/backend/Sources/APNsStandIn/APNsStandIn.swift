public import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A server on this machine that behaves as the documentation of APNs describes, for tests: HTTP/2 over TLS, provider tokens,
/// Apple's statuses and reasons, limits, GOAWAY and resets.
///
/// One object stands in for one of Apple's two servers, sandbox or production. It knows the devices that a test has added.
public final class APNsStandIn: Sendable {
    /// A device token that the stand-in knows.
    private struct Device {
        let topic: String
        var endedAtInMilliseconds: Int64?
    }

    /// What the stand-in has counted.
    public struct Counts: Hashable, Sendable {
        /// How many pushes it has accepted.
        public var accepted = 0
        /// How many requests it has refused, by reason.
        public var refused: [String: Int] = [:]
        /// How many faults it has carried out.
        public var faults = 0
        /// How many connections were made.
        public var connections = 0
        /// The most streams that one connection had at once.
        public var mostStreams = 0
    }

    struct Request {
        let headers: HPACKHeaders
        let body: [UInt8]
        let isOversized: Bool
    }

    struct Answer {
        let id: String
        var refusal: Refusal?
        var fault: Fault?
        var isAuthenticated = false
    }

    enum Response {
        case answer(Answer)
        case control(status: Int, json: String?)
    }

    private struct State {
        var devices: [String: Device] = [:]
        var topics: Set<String> = []
        var faults: [Fault] = []
        var counts = Counts()
        var connections: [ObjectIdentifier: (channel: any Channel, state: NIOLoopBound<ConnectionState>)] = [:]
        var listener: (any Channel)?
    }

    private let tokens: ProviderTokenCheck
    private let identity: SelfSignedIdentity
    private let streamLimit: Int
    private let allowsControl: Bool
    private let milliseconds: @Sendable () -> Int64
    private let deliver: @Sendable (AcceptedPush) -> Void
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - streamLimit: how many streams a connection may have after a request with a valid provider token.
    ///   - allowsControl: whether requests to `/stand-in/` can add devices and request faults; see ``ControlRequest``.
    ///   - milliseconds: the clock, in milliseconds since 1970.
    ///   - deliver: gets each accepted push, on an event loop, before the sender gets its answer.
    public init(
        tokens: ProviderTokenCheck, identity: SelfSignedIdentity, streamLimit: Int = 1_000, allowsControl: Bool = false,
        milliseconds: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) },
        deliver: @escaping @Sendable (AcceptedPush) -> Void
    ) {
        self.tokens = tokens
        self.identity = identity
        self.streamLimit = streamLimit
        self.allowsControl = allowsControl
        self.milliseconds = milliseconds
        self.deliver = deliver
    }

    /// What the stand-in has counted so far.
    public var counts: Counts { state.withLockedValue { $0.counts } }

    /// Adds a device with the app of a topic. If its token had ended, it is valid again.
    public func add(token: String, topic: String) {
        state.withLockedValue { state in
            state.devices[token.lowercased()] = Device(topic: topic)
            state.topics.insert(topic)
        }
    }

    /// Ends a token, as when the user deletes the app: `410 Unregistered`.
    public func end(token: String) {
        let time = milliseconds()
        state.withLockedValue { $0.devices[token.lowercased()]?.endedAtInMilliseconds = time }
    }

    /// Adds faults, which are carried out on the next requests that would be accepted, in the order in which they were added.
    public func order(_ fault: Fault, times: Int = 1) {
        state.withLockedValue { $0.faults += Array(repeating: fault, count: times) }
    }

    /// Sends GOAWAY on every connection.
    public func goAway() {
        for (channel, connection) in state.withLockedValue({ Array($0.connections.values) }) {
            channel.eventLoop.execute { connection.value.goAway() }
        }
    }

    /// Closes every connection at once.
    public func closeConnections() {
        for (channel, _) in state.withLockedValue({ Array($0.connections.values) }) { channel.close(promise: nil) }
    }

    // MARK: The server

    /// Listens on 127.0.0.1.
    ///
    /// - Parameter port: 0 for a free one.
    /// - Returns: the port.
    /// - Throws: the system's error if the port can't be used.
    @discardableResult
    public func start(port: UInt16 = 0) async throws -> Int {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(identity.certificate)], privateKey: .privateKey(identity.key))
        configuration.applicationProtocols = ["h2"]
        configuration.minimumTLSVersion = .tlsv12
        let tls = try NIOSSLContext(configuration: configuration)
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try setUp(channel, tls) }
            }
            .bind(host: "127.0.0.1", port: Int(port)).get()
        state.withLockedValue { $0.listener = listener }
        guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
        return port
    }

    /// Stops listening and closes every connection.
    public func stop() async {
        let listener = state.withLockedValue { $0.listener.take() }
        try? await listener?.close()
        closeConnections()
    }

    private func setUp(_ channel: any Channel, _ tls: NIOSSLContext) throws {
        let connection = ConnectionState(channel, streamLimit: streamLimit)
        let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
        let id = ObjectIdentifier(channel)
        state.withLockedValue { state in
            state.connections[id] = (channel, bound)
            state.counts.connections += 1
        }
        channel.closeFuture.whenComplete { [state] _ in
            _ = state.withLockedValue { $0.connections.removeValue(forKey: id) }
        }
        var settings = NIOHTTP2Handler.ConnectionConfiguration()
        settings.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: 1),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 8_000),
        ]
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
        _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: settings, streamConfiguration: .init()
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(PushStreamHandler(self, bound.value))
            }
        }
    }

    func count(streams: Int) {
        state.withLockedValue { $0.counts.mostStreams = max($0.counts.mostStreams, streams) }
    }

    // MARK: Answers

    func respond(to request: Request) -> Response {
        if allowsControl, let control = ControlRequest(request) {
            let (status, json) = control.run(on: self)
            return .control(status: status, json: json)
        }
        var answer = answer(to: request)
        if answer.fault == nil, let refusal = answer.refusal {
            state.withLockedValue { $0.counts.refused[refusal.reason, default: 0] += 1 }
        }
        if case .answer(let refusal)? = answer.fault?.kind { answer.refusal = refusal }
        return .answer(answer)
    }

    /// The checks, in the order that Apple's pages suggest: the request, the provider token, the device, the payload.
    private func answer(to request: Request) -> Answer {
        let id = request.headers.first(name: "apns-id") ?? UUID().uuidString
        var answer = Answer(id: id)
        do throws(Refused) {
            guard request.headers.first(name: ":method") == "POST" else { throw Refused(.methodNotAllowed) }
            let check = try RequestCheck(request.headers)
            let token = try check.token()
            let time = milliseconds()
            if let refusal = tokens.refusal(of: check.authorization, at: time / 1_000) { throw Refused(refusal) }
            answer.isAuthenticated = true
            try checkDevice(token, check.topic)
            guard !request.isOversized else { throw Refused(.payloadTooLarge) }
            guard !request.body.isEmpty else { throw Refused(.payloadEmpty) }
            let push = AcceptedPush(
                token: token, payload: request.body, id: id, topic: check.topic, pushType: check.pushType,
                priority: check.priority, expiration: check.expiration, collapseID: check.collapseID)
            answer.fault = nextFault()
            accept(push, answer.fault)
        } catch {
            answer.refusal = error.refusal
        }
        return answer
    }

    private func checkDevice(_ token: String, _ topic: String) throws(Refused) {
        let (device, isKnownTopic) = state.withLockedValue { ($0.devices[token], $0.topics.contains(topic)) }
        guard isKnownTopic else { throw Refused(.topicDisallowed) }
        guard let device else { throw Refused(.badDeviceToken) }
        guard device.topic == topic else { throw Refused(.topicNotForToken) }
        if let time = device.endedAtInMilliseconds { throw Refused(.unregistered(since: time)) }
    }

    private func nextFault() -> Fault? {
        state.withLockedValue { state in
            guard !state.faults.isEmpty else { return nil }
            state.counts.faults += 1
            return state.faults.removeFirst()
        }
    }

    private func accept(_ push: AcceptedPush, _ fault: Fault?) {
        switch fault?.kind {
        case .answer, .reset(isAccepted: false), .close(isAccepted: false): return
        case nil, .reset, .cutAnswer, .close, .goAway, .delay, .silence: break
        }
        state.withLockedValue { $0.counts.accepted += 1 }
        deliver(push)
    }
}
