import AsyncHTTPClient
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import PushCryptSender
import ServiceLifecycle
import UnixSignals

/// The whole service: the queue's workers for both of Apple's servers, and the HTTP interface.
struct BackendService: Sendable {
    /// What the service needs to know. The names are those of the options of `push-service`.
    struct Configuration: Sendable {
        var topic: String
        var registrationHost: String
        var placeholder = Placeholder.standard
        var providerKey: ProviderKey
        var providerKeyID: String
        var teamID: String
        /// The addresses of Apple's servers.
        var apns: [APNsEnvironment: String]
        var host = "127.0.0.1"
        /// 0 for a free one.
        var port: UInt16 = 8080
    }

    /// How long a connection may be idle, in or between requests. The number of requests is limited by the proxy in front of the
    /// service.
    private static let idleTimeout = Duration.seconds(30)
    private static let tidyingInterval: Int64 = 5_000

    private let configuration: Configuration
    private let sealer: PushSealer
    private let store: SQLiteStore
    private let signingKeys: KeysetWatcher
    private let userTokens: UserTokens
    private let serviceTokens: ServiceTokens
    private let logger: Logger
    private let milliseconds: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    private let sleep: @Sendable (Int64) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }

    /// - Parameter signingKeys: the keys that sign, which are rotated while the service runs.
    /// - Throws: `ConfigurationError` for a value that the service can't work with.
    init(
        _ configuration: Configuration, store: SQLiteStore, signingKeys: KeysetWatcher, userTokens: UserTokens,
        serviceTokens: ServiceTokens, logger: Logger
    ) throws(ConfigurationError) {
        for (environment, base) in configuration.apns where !APNsClient.isAddress(base) {
            throw ConfigurationError(environment.rawValue, "an address has the form https://HOST or https://HOST:PORT")
        }
        self.configuration = configuration
        sealer = try PushSealer(
            topic: configuration.topic, host: configuration.registrationHost, signingKeys: signingKeys,
            placeholder: configuration.placeholder, milliseconds: milliseconds)
        self.store = store
        self.signingKeys = signingKeys
        self.userTokens = userTokens
        self.serviceTokens = serviceTokens
        self.logger = logger
    }

    /// Runs until SIGTERM or SIGINT. Then it answers the requests that it has, claims nothing more from the queue, and waits until
    /// the running attempts have ended and their outcomes are stored.
    ///
    /// - Parameters:
    ///   - client: for APNs; shut it down afterwards.
    ///   - onStart: called with the port.
    /// - Throws: `ConfigurationError` if it can't listen; the error of a part that failed.
    func run(client: HTTPClient, onStart: @escaping @Sendable (Int) -> Void) async throws {
        defer { signingKeys.stop() }
        let token = await ProviderToken(
            configuration.providerKey, keyID: configuration.providerKeyID, teamID: configuration.teamID,
            store: store, milliseconds: milliseconds)
        let dispatchers = configuration.apns.map { dispatcher($0, base: $1, client, token) }
        let api = BackendAPI(
            store: store, sealer: sealer, userTokens: userTokens, serviceTokens: serviceTokens,
            gates: Dictionary(uniqueKeysWithValues: dispatchers.map { ($0.worker.environment, $0.worker.gate) }),
            milliseconds: milliseconds)
        let isListening = NIOLockedValueBox(false)
        let server = Application(
            router: api.router(), server: .http1(configuration: .init(idleTimeout: .init(Self.idleTimeout))),
            configuration: .init(address: .hostname(configuration.host, port: Int(configuration.port))),
            onServerRunning: { channel in
                isListening.withLockedValue { $0 = true }
                if let port = channel.localAddress?.port { onStart(port) }
            }, logger: logger)
        // They end in the reverse order. So the server stops accepting requests before the dispatchers stop.
        let services: [any Service] = [Tidier(tidy: tidyRegularly)] + dispatchers + [server]
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(30)
        do { try await ServiceGroup(configuration: group).run() } catch  where !isListening.withLockedValue({ $0 }) {
            let address = "host \(configuration.host) --port \(configuration.port)"
            throw ConfigurationError(address, "the service can't listen there: \(error)")
        }
    }

    private func dispatcher(
        _ environment: APNsEnvironment, base: String, _ client: HTTPClient, _ token: ProviderToken
    ) -> Dispatcher {
        let apns = APNsClient(client, base: base)
        let worker = DeliveryWorker(
            environment: environment, sealer: sealer, transport: { try await apns.send($0, providerToken: $1) },
            token: token, gate: Gate(Backoff()), backoff: Backoff(), milliseconds: milliseconds, logger: logger)
        return Dispatcher(store: store, worker: worker, sleep: sleep, logger: logger)
    }

    private func tidyRegularly() async throws {
        while true {
            try await sleep(Self.tidyingInterval)
            do { try await store.tidy(at: milliseconds()) } catch {
                logger.warning("the store can't be tidied yet", metadata: ["reason": "\(error)"])
            }
        }
    }
}

private struct Tidier: Service {
    let tidy: @Sendable () async throws -> Void

    /// Returns at the graceful shutdown.
    func run() async throws { try? await cancelWhenGracefulShutdown(tidy) }
}
