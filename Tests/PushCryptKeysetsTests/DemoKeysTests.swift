import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptKeysets

@Suite("DemoKeys")
struct DemoKeysTests {
    static let constants = [
        "recipient": DemoKeys.recipientJSON, "sender": DemoKeys.senderJSON, "shared": DemoKeys.sharedJSON,
    ]

    /// Three folders above this file.
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Keys/demo")

    @Test("each constant equals its file in Keys/demo", arguments: constants.keys.sorted())
    func files(_ name: String) throws {
        let file = try Data(contentsOf: Self.folder.appendingPathComponent("\(name)/keyset.json"))
        let constant = try #require(Self.constants[name])
        // The file ends with a newline; the constant may lack it.
        let text = String(decoding: file, as: UTF8.self)
        #expect(text == constant || text == constant + "\n")
    }

    @Test("Keys/demo contains only the keysets of the constants")
    func complete() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        let folders = names.filter { FileSystem.isFolder(Self.folder.appendingPathComponent($0).path) }
        #expect(Set(folders) == Set(Self.constants.keys))
    }

    @Test("Keys/demo has the keyset's file that is made of each constant, and no other one")
    func keysetFiles() throws {
        let files = try DemoKeys.keysetFiles()
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(Set(names.filter { $0.hasSuffix(".keyset") }) == Set(files.keys.map { "\($0).keyset" }))
        for (name, file) in files {
            #expect(try Array(Data(contentsOf: Self.folder.appendingPathComponent("\(name).keyset"))) == file)
            let rows = try KeysetRows(file)
            let keyset = try Keyset(OpenedKeyset(rows.log, rows.unlocked(nil)))
            let old = try Keyset(json: Array(#require(Self.constants[name]).utf8))
            #expect(keyset.hasSameContent(as: old))
        }
    }

    @Test(
        "a demo keyset is refused unless it is allowed, then read with any mode, owner and secret, and not remembered",
        arguments: constants.keys.sorted())
    func keysetFile(_ name: String) throws {
        let place = try TemporaryFolder()
        let path = place.path + "/\(name).keyset"
        try FileSystem.replace(path, with: #require(DemoKeys.keysetFiles()[name]), mode: 0o644)
        if FileSystem.ownUser == 0 {
            try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        }
        let history = place.path + "/seen"
        #expect(KeystoreError.Code.thrown { try Keyset(file: path) } == .demoKeys)
        for secret in [nil, KeysetSecret.command("exit 1;")] {
            let keyset = try Keyset(file: path, history: history, secret: secret, allowsDemoKeys: true)
            #expect(DemoKeys.covers(keyset.keyIDs))
        }
        #expect(KeystoreError.Code.thrown { try Keyset(file: path, secret: .command("exit 1;")) } == .notEncrypted)
        #expect(!FileSystem.exists(history))
    }

    @Test("contains and covers recognise the kids of the demo keys, and no others")
    func ids() throws {
        let keysets = try Self.constants.values.map { try Keyset(json: Array($0.utf8)) }
        #expect(Set(keysets.flatMap { $0.keyIDs.map(\.description) }) == DemoKeys.ids)
        for keyset in keysets { #expect(DemoKeys.contains(keyset) && DemoKeys.covers(keyset.keyIDs)) }
        let fresh = Keyset.Entry(
            try KeyRecord.generate(.shared, backend: DefaultBackend.shared), KeyLifecycle(activatesAt: UnixTime(0)))
        #expect(!DemoKeys.contains(try Keyset([fresh])))
        let shared = try Keyset(json: Array(DemoKeys.sharedJSON.utf8))
        let mixed = try Keyset(shared.entries + [fresh])
        #expect(DemoKeys.contains(mixed) && !DemoKeys.covers(mixed.keyIDs))
    }

    @Test(
        "demo keys are marked as published and load from a folder that all users can read",
        arguments: constants.keys.sorted())
    func loose(_ name: String) throws {
        let constant = try #require(Self.constants[name])
        #expect(constant.contains("PUBLISHED DEMO KEY"))
        let place = try TemporaryFolder()
        try FileSystem.replace(place.path + "/keyset.json", with: Array(constant.utf8))
        try place.setMode(0o644, of: "keyset.json")
        try place.setMode(0o755, of: "")
        #expect(DemoKeys.contains(try KeysetFolder(place.path).load()))
    }
}
