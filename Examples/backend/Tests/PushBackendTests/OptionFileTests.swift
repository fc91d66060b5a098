import BackendTestSupport
import Foundation
import Testing

@testable import PushBackend

@Suite("files that options name") struct OptionFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ path: String, isSecret: Bool = true) throws -> ServiceTokens {
        try OptionFile("service-tokens", path).read(isSecret: isSecret) {
            try ServiceTokens([String(decoding: $0, as: UTF8.self)])
        }
    }

    @Test("an error names the option and the path: of a missing file, and of contents that can't be used")
    func errors() throws {
        let path = folder.path + "/tokens"
        let missing = #expect(throws: ConfigurationError.self) { try read(path, isSecret: false) }
        #expect(missing?.description == "--service-tokens \(path): there is no such file")
        try folder.write(Data("x".utf8), to: "tokens")
        let short = #expect(throws: ConfigurationError.self) { try read(path) }
        #expect(short?.option == "service-tokens \(path)" && short?.reason.contains("20 characters") == true)
        let key = #expect(throws: ConfigurationError.self) {
            try OptionFile("provider-key", path).read { try ProviderKey(pem: String(decoding: $0, as: UTF8.self)) }
        }
        #expect(key?.option == "provider-key \(path)")
    }

    @Test(
        "a secret that other users can open is refused, and the error says how to correct that",
        arguments: [0o644, 0o604, 0o660])
    func looseMode(mode: Int) throws {
        let path = try folder.write(Data(repeating: 0x61, count: 32), to: "tokens", mode: mode)
        let error = #expect(throws: ConfigurationError.self) { try read(path) }
        #expect(error?.reason.contains("chmod 600 \(path)") == true)
        _ = try read(path, isSecret: false)
    }

    @Test("a secret that only its owner can open is read, with any length", arguments: [32, 5_000])
    func secret(count: Int) throws {
        _ = try read(try folder.write(Data(repeating: 0x61, count: count), to: "tokens"))
    }
}
