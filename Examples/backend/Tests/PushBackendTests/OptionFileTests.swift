import BackendTestSupport
import Foundation
import Testing

@testable import PushBackend

@Suite("files that options name") struct OptionFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a missing file is refused, and the error names the option and the path")
    func missing() {
        let path = folder.path + "/user.key"
        let error = #expect(throws: ConfigurationError.self) { try OptionFile("user-token-key", path).read { _ in } }
        #expect(error?.description == "--user-token-key \(path): there is no such file")
    }

    @Test("an error of the contents names the option and the path")
    func contents() throws {
        let path = try folder.write(Data("x".utf8), to: "user.key")
        let error = #expect(throws: ConfigurationError.self) {
            try OptionFile("user-token-key", path).read(isSecret: true, UserToken.init)
        }
        #expect(error?.description == "--user-token-key \(path): the key has fewer than 32 bytes")
    }

    @Test(
        "a secret that other users can open is refused, and the error says how to correct that",
        arguments: [0o644, 0o604, 0o660])
    func looseMode(mode: Int) throws {
        let path = try folder.write(Data(repeating: 7, count: 32), to: "user.key", mode: mode)
        let error = #expect(throws: ConfigurationError.self) {
            try OptionFile("user-token-key", path).read(isSecret: true, UserToken.init)
        }
        #expect(error?.reason.contains("chmod 600 \(path)") == true)
        try OptionFile("senders", path).read { #expect($0.count == 32) }
    }

    @Test("a secret that only its owner can open is read, with any length", arguments: [32, 5_000])
    func secret(count: Int) throws {
        let path = try folder.write(Data(repeating: 7, count: count), to: "secret")
        #expect(try OptionFile("service-tokens", path).read(isSecret: true) { $0.count } == count)
    }

    @Test("a file that isn't a provider key is refused, and the error names the option and the path")
    func providerKey() throws {
        let path = try folder.write(Data("-----BEGIN PRIVATE KEY-----".utf8), to: "provider.p8")
        let error = #expect(throws: ConfigurationError.self) {
            try OptionFile("provider-key", path).read { try ProviderKey(pem: String(decoding: $0, as: UTF8.self)) }
        }
        #expect(error?.option == "provider-key \(path)")
    }
}
