public import ArgumentParser
import AsyncHTTPClient
import Foundation
import Logging
import PushCryptSender

/// Accepts notifications over HTTP, seals them for each device, and sends them to APNs.
public struct PushService: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "push-service", abstract: "Seals notifications for devices and sends them to APNs.")

    @Option(help: "The app's bundle identifier.") var topic: String
    @Option(help: "The host of this service's address, as the app knows it.") var registrationHost: String
    @Option(help: "The database's file.") var database: String
    @Option(help: "The keyset that signs, Keys/NAME.keyset, or a mounted secret.") var signingKeys: String
    @Option(help: "The file with the keyset's passphrase.") var passphraseFile: String?
    @Option(help: "A folder with what this host has seen of keysets: an older copy is refused.") var history: String?
    @Option(help: "The key from Apple's developer site, a .p8 file.") var providerKey: String
    @Option(help: "The id of this key.") var providerKeyID: String
    @Option(help: "The id of the team.") var teamID: String
    @Option(help: "A file with 32 random bytes, which makes the tokens of users.") var userTokenKey: String
    @Option(help: "A file with the tokens of other parts of the backend, one on each line.") var serviceTokens: String
    @Option(help: "Apple's server for builds from Xcode, https://HOST or https://HOST:PORT.")
    var sandbox = "https://api.sandbox.push.apple.com"
    @Option(help: "Apple's server for TestFlight and the App Store, in the same form.")
    var production = "https://api.push.apple.com"
    @Option(help: "A certificate to trust in place of the system's, for the stand-in.") var trust: String?
    @Option(help: "The title that a device shows when it can't open a push. Apple can read it.")
    var placeholderTitle = "New message"
    @Option(help: "The same: the body.") var placeholderBody = "Open the app to read it"
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on, 1 to 65535; 0 for a free one.") var port: UInt16 = 8080
    @Option(help: "A file that gets the port, once the service answers.") var portFile: String?
    @Option(help: "trace, debug, info, notice, warning or error.") var logLevel = "info"

    public init() {}

    public func validate() throws {
        guard Logger.Level(rawValue: logLevel) != nil else {
            throw ValidationError("--log-level is trace, debug, info, notice, warning or error")
        }
    }

    public func run() async throws {
        let level = Logger.Level(rawValue: logLevel) ?? .info
        LoggingSystem.bootstrap { JSONLogHandler(label: $0, level: level) }
        // For metrics, call MetricsSystem.bootstrap(…) here.
        let logger = Logger(label: "push-service")
        let store = try OptionFile("database", database).naming { try SQLiteStore(path: database) }
        let userKey = try OptionFile("user-token-key", userTokenKey).read(isSecret: true) { $0 }
        let service = try BackendService(
            configuration(), store: store, signingKeys: keysetWatcher(logger),
            userTokens: await UserTokens(key: userKey),
            serviceTokens: OptionFile("service-tokens", serviceTokens).read(isSecret: true) { text in
                try ServiceTokens(
                    String(decoding: text, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init))
            }, logger: logger)
        let client =
            try trust.map { path in
                try OptionFile("trust", path).read {
                    try APNsClient.httpClient(trustedPEM: String(decoding: $0, as: UTF8.self))
                }
            } ?? APNsClient.httpClient()
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await service.run(client: client) { [portFile] port in
                    logger.notice("ready", metadata: ["port": "\(port)"])
                    guard let portFile else { return }
                    do {
                        try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: portFile), options: .atomic)
                    } catch { logger.error("--port-file can't be written", metadata: ["path": "\(portFile)"]) }
                })
        } catch { result = .failure(error) }
        try await client.shutdown()
        try result.get()
        logger.notice("ended")
    }

    private func configuration() throws -> BackendService.Configuration {
        BackendService.Configuration(
            topic: topic, registrationHost: registrationHost,
            placeholder: Placeholder(title: placeholderTitle, body: placeholderBody),
            providerKey: try OptionFile("provider-key", providerKey).read(isSecret: true) {
                try ProviderKey(pem: String(decoding: $0, as: UTF8.self))
            },
            providerKeyID: providerKeyID, teamID: teamID, apns: [.sandbox: sandbox, .production: production],
            host: host, port: port)
    }

    func keysetWatcher(_ logger: Logger) throws -> KeysetWatcher {
        let secret = try passphraseFile.map { path in
            try OptionFile("passphrase-file", path).naming { try KeysetSecret.passphraseFile(path) }
        }
        return try OptionFile("signing-keys", signingKeys).naming {
            let kind = try Keyset(file: signingKeys, history: history, secret: secret).kind
            guard kind == .sender else {
                throw KeyError(
                    .wrongKind,
                    "this is a keyset of \(kind.rawValue) keys; a keyset of sender keys is needed: pushcrypt keys create --kind sender"
                )
            }
            return try KeysetWatcher(file: signingKeys, history: history, secret: secret, logger: logger)
        }
    }
}
