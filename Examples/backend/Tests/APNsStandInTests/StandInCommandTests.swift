import ArgumentParser
import BackendTestSupport
import Foundation
import Testing

@testable import apns_stand_in

@Suite("the program apns-stand-in") struct StandInCommandTests {
    @Test("a provider key and a certificate that can't be used stop it, and the error names option and path")
    func files() async throws {
        let folder = try TemporaryFolder()
        let key = try folder.write(Data("no key".utf8), to: "key.p8")
        for (key, certificate, option) in [
            (key, "c.pem", "--provider-key \(key)"),
            ("\(folder.path)/new.p8", "\(folder.path)/none/c.pem", "--certificate \(folder.path)/none/c.pem"),
        ] {
            let program = try StandInCommand.parse([
                "--provider-key", key, "--provider-key-id", "K", "--team-id", "T", "--certificate", certificate,
            ])
            let error = await #expect(throws: StandInCommand.Refused.self) { try await program.run() }
            #expect(error?.description.hasPrefix(option) == true)
        }
    }
}
