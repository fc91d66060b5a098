import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOSSL
import PushCryptAPNs
import PushCryptSender

/// Sends one push, from files.
@main
struct FirstPush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "first-push", abstract: "Seal a notification for one device and send it to APNs.",
        discussion: "The id of the push is printed after APNs has accepted it.")

    @Option(help: "The app's registration record: a file.") var registration: String
    @Option(help: "The device token in hexadecimal digits.") var deviceToken: String
    @Option(help: "The app's bundle identifier.") var topic: String
    @Option(help: "The signing keyset, Keys/NAME.keyset; without it the push is unsigned.") var signingKeys: String?
    @Option(help: "The .p8 file from Apple's developer site.") var apnsKey: String
    @Option(help: "The id of this key.") var apnsKeyID: String
    @Option(help: "The id of your team.") var teamID: String
    @Option(help: "APNs' server.") var server = "https://api.sandbox.push.apple.com"
    @Option(help: "Trust only this certificate, a PEM file: for a stand-in.") var trust: String?
    @Option(help: "The title.") var title: String
    @Option(help: "The text.") var body: String

    func run() async throws {
        let signer = try signingKeys.map { Signer.keyset(try Keyset(file: $0)) }
        let sealer = try Sealer(topic: topic, signer: signer)
        let key = try String(contentsOfFile: apnsKey, encoding: .utf8)
        let token = try ProviderToken(key: key, keyID: apnsKeyID, teamID: teamID)
        let record = try Data(contentsOf: URL(fileURLWithPath: registration))
        let row = StoredRegistration(
            try Registration(json: record, requiring: [.psk, .asymmetric]), account: "", deviceToken: deviceToken,
            environment: .sandbox)
        let client = HTTPClient(configuration: try configuration())
        var options = Pusher.Options()
        options.servers[.sandbox] = server
        let pusher = Pusher(sealer: sealer, token: token, client: client, options: options)
        let result: PushResult
        do { result = try await pusher.send(PushNotification(title: title, body: body), to: row) } catch {
            try await client.shutdown()
            throw error
        }
        try await client.shutdown()
        guard case .sent(let push) = result else { throw NotSent(result: result) }
        print("APNs has accepted the push \(push.id).")
    }

    /// APNs didn't accept the push.
    struct NotSent: Error {
        let result: PushResult
    }

    private func configuration() throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let trust {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(trust))
            configuration.tlsConfiguration = tls
        }
        return configuration
    }
}
