import Crypto
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import PushBackend

@Suite("provider tokens") struct ProviderTokenTests {
    private let test: TestStore
    private let key = P256.Signing.PrivateKey()
    private let clock = NIOLockedValueBox<Int64>(1_000_000_000_000)

    init() throws { test = try TestStore() }

    private func make(keyID: String = "KEY1234567") async throws -> ProviderToken {
        await ProviderToken(
            try ProviderKey(pem: key.pemRepresentation), keyID: keyID, teamID: "TEAM123456", store: test.store
        ) { [clock] in clock.withLockedValue { $0 } }
    }

    private func pass(minutes: Int64) { clock.withLockedValue { $0 += minutes * 60_000 } }

    @Test("one token is used for 50 minutes, and another one after that")
    func renewal() async throws {
        let token = try await make()
        let first = try await token.current()
        pass(minutes: 49)
        #expect(try await token.current() == first)
        pass(minutes: 1)
        #expect(try await token.current() != first)
    }

    @Test("a restarted service uses the same token, and one with another key doesn't")
    func restart() async throws {
        let first = try await make().current()
        #expect(try await make().current() == first)
        #expect(try await make(keyID: "KEY0000000").current() != first)
    }

    @Test("a token that APNs calls expired is replaced at the earliest after 20 minutes")
    func replacement() async throws {
        let token = try await make()
        let first = try await token.current()
        pass(minutes: 19)
        #expect(await !token.replace(first))
        #expect(try await token.current() == first)
        pass(minutes: 1)
        #expect(await token.replace(first))
        #expect(try await token.current() != first)
    }

    @Test("many that need a token at once get the same one")
    func concurrency() async throws {
        let token = try await make()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await token.current() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
    }
}

@Suite("bearer tokens") struct BearerTokenTests {
    private static let key = Data(repeating: 7, count: 32)

    @Test("a token names its user until it expires")
    func user() async throws {
        let tokens = try await UserTokens(key: Self.key)
        let token = try await TestAPI.token(for: "zoë.1", until: 100, key: Self.key)
        #expect(try await tokens.user(of: token, at: 99) == "zoë.1")
        await #expect(throws: APIError.self) { try await tokens.user(of: token, at: 100) }
    }

    @Test("a token that was changed in any character is refused")
    func changed() async throws {
        let tokens = try await UserTokens(key: Self.key)
        let token = try await TestAPI.token(for: "zoe", key: Self.key)
        // The last character of the signature has bits that don't count.
        for index in token.indices.dropLast() where token[index] != "." {
            var changed = token
            changed.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
            await #expect(throws: APIError.self) { try await tokens.user(of: changed, at: 1) }
        }
    }

    @Test("a key of user tokens with fewer than 32 bytes is refused", arguments: [0, 16, 31])
    func shortKey(count: Int) async {
        await #expect(throws: ConfigurationError.self) { try await UserTokens(key: Data(repeating: 7, count: count)) }
    }

    @Test("a service token is one of a list, which isn't empty and has none with fewer than 20 characters")
    func service() throws {
        for list in [[], [""], ["first-token-of-the-backend", "19-characters-short"]] {
            #expect(throws: ConfigurationError.self) { try ServiceTokens(list) }
        }
        let tokens = try ServiceTokens(["first-token-of-the-backend", "second-token-of-the-backend"])
        try tokens.check("second-token-of-the-backend")
        for other in ["second-token-of-the-backenD", "second-token", ""] {
            #expect(throws: APIError.self) { try tokens.check(other) }
        }
    }
}
