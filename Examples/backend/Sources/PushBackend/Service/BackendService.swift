public import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import PushCryptSender
import ServiceLifecycle
import UnixSignals

/// The whole service: the queue's workers for both of Apple's servers, and the HTTP interface.
public struct BackendService: Sendable {
    /// What the service needs to know.
    public struct Configuration: Sendable {
        /// The app's bundle identifier.
        public var topic: String
        /// The address of this server.
        public var host = "127.0.0.1"
        /// The port of this server; 0 for a free one.
        public var port = 8080
        /// The host of this service's address, as the app knows it: a device's answer to a challenge contains it.
        public var registrationHost: String
        /// The addresses of Apple's servers.
        public var apns: [APNsEnvironment: String] = [
            .sandbox: "https://api.sandbox.push.apple.com", .production: "https://api.push.apple.com",
        ]
        /// The key from Apple's developer site, as PEM.
        public var providerKey: String
        /// The key's id.
        public var providerKeyID: String
        /// The team's id.
        public var teamID: String
        /// How much is sent at once.
        public var dispatch = Dispatcher.Options()
        /// The waits after failures.
        public var backoff = Backoff()
        /// How long one request to APNs may take.
        public var requestTimeoutInSeconds: Int64 = 15
        /// How long a graceful shutdown may take.
        public var shutdownInSeconds: Int64 = 30

        /// Creates a configuration; the parameters are the properties of the same names.
        public init(
            topic: String, registrationHost: String, providerKey: String, providerKeyID: String, teamID: String
        ) {
            self.topic = topic
            self.registrationHost = registrationHost
            self.providerKey = providerKey
            self.providerKeyID = providerKeyID
            self.teamID = teamID
        }
    }

    private let configuration: Configuration
    private let sealer: PushSealer
    private let store: any PushStore
    private let signingKeys: KeysetWatcher
    private let userTokens: UserToken
    private let serviceTokens: ServiceTokens
    private let senderSet: SenderSet?
    private let metrics: PrometheusMetrics
    private let logger: Logger
    private let milliseconds: @Sendable () -> Int64
    private let sleep: @Sendable (Int64) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }

    /// - Parameters:
    ///   - signingKeys: the keys that sign, which are rotated while the service runs.
    ///   - metrics: the registry that swift-metrics was bootstrapped with.
    /// - Throws: `KeyError` for another topic or kind of keys; `ConfigurationError` for a time limit that is as long as a claim, or
    ///   a host that no device could confirm.
    public init(
        _ configuration: Configuration, store: any PushStore, signingKeys: KeysetWatcher, userTokens: UserToken,
        serviceTokens: ServiceTokens, senderSet: SenderSet?, metrics: PrometheusMetrics, logger: Logger
    ) throws {
        self.configuration = configuration
        let milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        self.milliseconds = milliseconds
        sealer = try PushSealer(topic: configuration.topic, signingKeys: signingKeys, milliseconds: milliseconds)
        do { try sealer.check(host: configuration.registrationHost) } catch {
            throw ConfigurationError("the registration host: \(error)")
        }
        let leaseInSeconds = configuration.dispatch.leaseInMilliseconds / 1_000
        guard (1..<leaseInSeconds).contains(configuration.requestTimeoutInSeconds) else {
            throw ConfigurationError("a request to APNs may take 1 second or more, and less than \(leaseInSeconds)")
        }
        self.store = store
        self.signingKeys = signingKeys
        self.userTokens = userTokens
        self.serviceTokens = serviceTokens
        self.senderSet = senderSet
        self.metrics = metrics
        self.logger = logger
    }

    /// Runs until SIGTERM or SIGINT. Then it answers the requests that it has, claims nothing more from the queue, and waits until
    /// the running attempts have ended and their outcomes are stored.
    ///
    /// - Parameters:
    ///   - client: for APNs; shut it down afterwards.
    ///   - onStart: called with the port.
    /// - Throws: the error of a part that failed.
    public func run(client: HTTPClient, onStart: @escaping @Sendable (Int) -> Void) async throws {
        let token = try await ProviderToken(
            pem: configuration.providerKey, keyID: configuration.providerKeyID, teamID: configuration.teamID,
            store: store, milliseconds: milliseconds)
        let dispatchers = APNsEnvironment.allCases.compactMap { environment in
            configuration.apns[environment].map { dispatcher(environment, base: $0, client, token) }
        }
        let api = BackendAPI(
            store: store, sealer: sealer, host: configuration.registrationHost, userTokens: userTokens,
            serviceTokens: serviceTokens, senderSet: senderSet, metrics: metrics,
            wakeUp: { for dispatcher in dispatchers { dispatcher.wakeUps.signal() } }, milliseconds: milliseconds)
        let server = Application(
            router: api.router(), server: .http1(configuration: .init(idleTimeout: .seconds(30))),
            configuration: .init(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { channel in if let port = channel.localAddress?.port { onStart(port) } }, logger: logger)
        let tidier = Tidier(
            store: store, intervalInMilliseconds: 5_000, milliseconds: milliseconds, sleep: sleep, logger: logger)
        // They end in the reverse order. So the server stops accepting requests before the dispatchers stop.
        let services: [any Service] = [KeysetService(signingKeys), tidier] + dispatchers + [server]
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(configuration.shutdownInSeconds)
        try await ServiceGroup(configuration: group).run()
    }

    private func dispatcher(
        _ environment: APNsEnvironment, base: String, _ client: HTTPClient, _ token: ProviderToken
    ) -> Dispatcher {
        let worker = DeliveryWorker(
            environment: environment, sealer: sealer,
            transport: APNsClient(client, base: base, timeoutInSeconds: configuration.requestTimeoutInSeconds),
            token: token, gate: Gate(configuration.backoff), backoff: configuration.backoff, milliseconds: milliseconds,
            logger: logger)
        let writer = OutcomeWriter(
            store: store, backoff: configuration.backoff, milliseconds: milliseconds, sleep: sleep, logger: logger)
        return Dispatcher(
            store: store, worker: worker, writer: writer, options: configuration.dispatch, wakeUps: WakeUps(),
            sleep: sleep, logger: logger)
    }
}
