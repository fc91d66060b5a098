import APNsStandIn
import ArgumentParser
import Crypto
import Foundation

/// Stands in for one of Apple's servers on this machine. It prints each accepted push as a line, which `pushcrypt simulate` can
/// read.
@main struct StandInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apns-stand-in",
        abstract: "Stands in for APNs on 127.0.0.1, as Apple's documentation describes it.")

    @Option(help: "The provider key, a .p8 file; it is made if it doesn't exist.") var providerKey: String
    @Option(help: "The id of this key.") var providerKeyID: String
    @Option(help: "The id of the team.") var teamID: String
    @Option(help: "The file that gets the certificate for clients to trust.") var certificate: String
    @Option(help: "The port, 1 to 65535; 0 for a free one.") var port: UInt16 = 0
    @Option(help: "A file that gets the port.") var portFile: String?
    @Option(help: "How many streams a connection may have after a request with a valid token.") var streams = 1_000

    func run() async throws {
        if !FileManager.default.fileExists(atPath: providerKey) {
            let pem = Data(P256.Signing.PrivateKey().pemRepresentation.utf8)
            _ = FileManager.default.createFile(
                atPath: providerKey, contents: pem, attributes: [.posixPermissions: 0o600])
        }
        guard let pem = try? String(contentsOfFile: providerKey, encoding: .utf8),
            let key = try? P256.Signing.PrivateKey(pemRepresentation: pem)
        else {
            throw Refused("--provider-key \(providerKey): the file isn't a P-256 private key as PEM, or can't be made")
        }
        let identity = try SelfSignedIdentity()
        try write(identity.certificatePEM, to: certificate, option: "certificate")
        let standIn = APNsStandIn(
            tokens: ProviderTokenCheck(teamID: teamID, keys: [providerKeyID: key.publicKey]), identity: identity,
            streamLimit: streams, allowsControl: true
        ) { push in
            try? FileHandle.standardOutput.write(contentsOf: Data(push.line))
        }
        let port: Int
        do { port = try await standIn.start(port: self.port) } catch {
            throw Refused("--port \(self.port): the stand-in can't listen there: \(error)")
        }
        if let portFile { try write("\(port)\n", to: portFile, option: "port-file") }
        try FileHandle.standardError.write(contentsOf: Data("listening on https://127.0.0.1:\(port)\n".utf8))
        try await Task.sleep(for: .seconds(86_400))
    }

    private func write(_ text: String, to path: String, option: String) throws {
        do { try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            throw Refused("--\(option) \(path): the file can't be written")
        }
    }

    /// Why the stand-in can't be started.
    struct Refused: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
