public import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdCore
public import Logging
import NIOConcurrencyHelpers
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
        public var port: UInt16 = 8080
        /// The host of this service's address, as the app knows it: a device's answer to a challenge contains it.
        public var registrationHost: String
        /// The addresses of Apple's servers.
        public var apns: [APNsEnvironment: String] = [
            .sandbox: "https://api.sandbox.push.apple.com", .production: "https://api.push.apple.com",
        ]
        /// What Apple can read of each push.
        public var visible = PushSealer.VisibleParts()
        /// The key from Apple's developer site.
        public var providerKey: ProviderKey
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
        /// How long a client may take.
        public var limits = RequestLimits()
        /// How long a graceful shutdown may take.
        public var shutdownInSeconds: Int64 = 30

        /// Creates a configuration; the parameters are the properties of the same names.
        public init(
            topic: String, registrationHost: String, providerKey: ProviderKey, providerKeyID: String, teamID: String
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
    /// - Throws: `ConfigurationError` for a value that the service can't work with.
    public init(
        _ configuration: Configuration, store: any PushStore, signingKeys: KeysetWatcher, userTokens: UserToken,
        serviceTokens: ServiceTokens, senderSet: SenderSet?, metrics: PrometheusMetrics, logger: Logger
    ) throws {
        self.configuration = configuration
        let milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
        self.milliseconds = milliseconds
        do {
            sealer = try PushSealer(
                topic: configuration.topic, signingKeys: signingKeys, visible: configuration.visible,
                metrics: metrics, milliseconds: milliseconds)
        } catch { throw ConfigurationError(error.code == .invalidTopic ? "topic" : "signing-keys", error.reason) }
        do { try sealer.check(host: configuration.registrationHost) } catch {
            throw ConfigurationError("registration-host", OptionFile.reason(error))
        }
        do { try sealer.checkVisibleParts() } catch {
            let isPlaceholder = (error as? SenderError)?.code == .invalidPlaceholder
            throw ConfigurationError(isPlaceholder ? "placeholder-title" : "expose", OptionFile.reason(error))
        }
        try configuration.check()
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
    /// - Throws: `ConfigurationError` if it can't listen; the error of a part that failed.
    public func run(client: HTTPClient, onStart: @escaping @Sendable (Int) -> Void) async throws {
        let token = await ProviderToken(
            configuration.providerKey, keyID: configuration.providerKeyID, teamID: configuration.teamID,
            store: store, milliseconds: milliseconds)
        let dispatchers = APNsEnvironment.allCases.compactMap { environment in
            configuration.apns[environment].map { dispatcher(environment, base: $0, client, token) }
        }
        let api = BackendAPI(
            store: store, sealer: sealer, host: configuration.registrationHost, userTokens: userTokens,
            serviceTokens: serviceTokens, senderSet: senderSet, metrics: metrics,
            refusedTokens: {
                dispatchers.compactMap { dispatcher in
                    let worker = dispatcher.worker
                    return worker.gate.tokenRefusal.map { "\($0) by \(worker.environment.rawValue)" }
                }
            },
            limits: configuration.limits,
            wakeUp: { for dispatcher in dispatchers { dispatcher.wakeUps.signal() } }, milliseconds: milliseconds)
        let isListening = NIOLockedValueBox(false)
        let server = Application(
            router: api.router(),
            server: .http1(configuration: .init(idleTimeout: TimeAmount(configuration.limits.idleTimeout))),
            configuration: .init(address: .hostname(configuration.host, port: Int(configuration.port))),
            onServerRunning: { channel in
                isListening.withLockedValue { $0 = true }
                if let port = channel.localAddress?.port { onStart(port) }
            }, logger: logger)
        let tidier = Tidier(
            store: store, intervalInMilliseconds: 5_000, milliseconds: milliseconds, sleep: sleep, logger: logger)
        // They end in the reverse order. So the server stops accepting requests before the dispatchers stop.
        let services: [any Service] = [KeysetService(signingKeys), tidier] + dispatchers + [server]
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(configuration.shutdownInSeconds)
        do { try await ServiceGroup(configuration: group).run() } catch  where !isListening.withLockedValue({ $0 }) {
            let address = "host \(configuration.host) --port \(configuration.port)"
            throw ConfigurationError(address, "the service can't listen there: \(error)")
        }
    }

    private func dispatcher(
        _ environment: APNsEnvironment, base: String, _ client: HTTPClient, _ token: ProviderToken
    ) -> Dispatcher {
        let worker = DeliveryWorker(
            environment: environment, sealer: sealer,
            transport: APNsClient(client, base: base, timeoutInSeconds: configuration.requestTimeoutInSeconds),
            token: token, gate: Gate(configuration.backoff), backoff: configuration.backoff, milliseconds: milliseconds,
            metrics: metrics, logger: logger)
        let writer = OutcomeWriter(
            store: store, backoff: configuration.backoff, milliseconds: milliseconds, sleep: sleep, logger: logger)
        return Dispatcher(
            store: store, worker: worker, writer: writer, options: configuration.dispatch, wakeUps: WakeUps(),
            sleep: sleep, logger: logger)
    }
}

extension BackendService.Configuration {
    /// - Throws: `ConfigurationError` for a number out of its range, and for an address that isn't one of a server.
    fileprivate func check() throws(ConfigurationError) {
        func require(_ range: ClosedRange<Int64>, _ value: Int64, _ option: String) throws(ConfigurationError) {
            guard range.contains(value) else {
                throw ConfigurationError(option, "the value is \(range.lowerBound) to \(range.upperBound)")
            }
        }
        try require(1...10_000, Int64(dispatch.width), "width")
        // An attempt has to end before its claim does.
        try require(1...dispatch.leaseInMilliseconds / 1_000 - 1, requestTimeoutInSeconds, "request-timeout")
        try require(backoff.first...86_400_000, backoff.longest, "longest-wait")
        for (environment, base) in apns where !APNsClient.isAddress(base) {
            throw ConfigurationError(environment.rawValue, "an address has the form https://HOST or https://HOST:PORT")
        }
    }
}
