import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

@Suite("DemoKeys")
struct DemoKeysTests {
    /// Three folders above this file.
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Keys/demo").path

    @Test("Keys/demo has the file of each demo keyset and nothing else; each is marked as published")
    func files() throws {
        #expect(
            try FileSystem.names(in: Self.folder).sorted() == DemoKeys.allCases.map { "\($0).keyset" }.sorted())
        for demo in DemoKeys.allCases {
            #expect(try FileSystem.readFile("\(Self.folder)/\(demo).keyset") == demo.file)
            #expect(String(decoding: demo.file, as: UTF8.self).contains("PUBLISHED DEMO KEY"))
            #expect(try demo.keyset().kind.rawValue == demo.rawValue)
        }
    }

    @Test(
        "a demo keyset is refused unless it is allowed, then read with any mode, owner and secret, and not remembered",
        arguments: DemoKeys.allCases)
    func read(_ demo: DemoKeys) throws {
        let place = try TemporaryFolder()
        let path = place.path + "/demo.keyset"
        try FileSystem.replace(path, with: demo.file, mode: 0o644)
        try place.setMode(0o755, of: "")
        if FileSystem.ownUser == 0 {
            try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        }
        let history = place.path + "/seen"
        for secret in [nil, KeysetSecret.command("exit 1;")] {
            #expect(KeystoreError.Code.thrown { try Keyset(file: path, secret: secret) } == .demoKeys)
            let keyset = try Keyset(file: path, history: history, secret: secret, allowsDemoKeys: true)
            #expect(DemoKeys.covers(keyset.keyIDs))
        }
        #expect(!FileSystem.exists(history))
    }

    @Test("contains and covers recognise the kids of the demo keys, and no others")
    func ids() throws {
        let keysets = try DemoKeys.allCases.map { try $0.keyset() }
        #expect(Set(keysets.flatMap { $0.keyIDs.map(\.description) }) == DemoKeys.ids)
        for keyset in keysets { #expect(DemoKeys.contains(keyset) && DemoKeys.covers(keyset.keyIDs)) }
        let fresh = try KeysetFiles(.shared).keyset.entries
        #expect(!DemoKeys.contains(try Keyset(fresh)))
        let mixed = try Keyset(DemoKeys.shared.keyset().entries + fresh)
        #expect(DemoKeys.contains(mixed) && !DemoKeys.covers(mixed.keyIDs))
        #expect(!DemoKeys.covers([]))
    }
}
