import PushCryptCore
import PushCryptKeyFiles
import PushCryptTestSupport
import Testing

@Suite("KeysetFile.requireEncrypted")
struct ExpectedProtectionTests {
    @Test("refuses keys in clear, and names the file")
    func plaintext() throws {
        let text = EditedText(try SealedSample.keyset(.sender, .plaintext, nil).fileText())
        let file = try text.file()
        let error = #expect(throws: KeyStoreError.self) { try file.requireEncrypted() }
        #expect(error?.code == .notEncrypted)
        #expect(error?.reason.hasPrefix("keyset.json ") == true)
    }

    @Test("takes encrypted keys, and the demo keys that everybody has")
    func fine() throws {
        try EditedText(SealedSample.text()).file().requireEncrypted()
        for text in [DemoKeys.recipientJSON, DemoKeys.senderJSON, DemoKeys.sharedJSON] {
            try EditedText(text).file().requireEncrypted()
        }
    }

    /// The folder of a keystore is read like any other file: encrypted, and without a secret as far as that goes.
    @Test("stands beside a folder that opens with its secret alone")
    func folder() throws {
        let place = try TemporaryFolder()
        let (path, stored) = (place.path + "/ios", try SealedSample.keyset())
        try FileSystem.makeFolder(path)
        try FileSystem.replace(path + "/keyset.json", with: stored.fileText())
        #expect(try KeysetFolder(path).file().metadata == stored.metadata)
        #expect(try KeysetFolder(path).load { SealedSample.passphrase() }.keyIDs == Array(stored.records.keys))
        #expect(KeyStoreError.Code.thrown { try KeysetFolder(path).load() } == .secretNeeded)
        #expect(
            KeyStoreError.Code.thrown { try KeysetFolder(path).load { SealedSample.passphrase("x") } } == .wrongSecret)
        try place.setMode(0o644, of: "ios/keyset.json")
        #expect(KeyStoreError.Code.thrown { try KeysetFolder(path).load { SealedSample.passphrase() } } == .looseMode)
    }
}
