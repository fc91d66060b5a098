import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// `Keyset(folder:)` and `Keyset(file:)`, with only the import that a backend has.
@Suite("loading a keyset") struct LoadingTests {
    @Test("a keyset's folder is loaded with all its keys", arguments: ["recipient", "shared", "sender"])
    func aFolder(kind: String) throws {
        let place = try Operator(try #require(KeyKind(rawValue: kind)))
        let kid = try place.rotate()
        let keyset = try Keyset(folder: place.path)
        #expect(keyset.kind.rawValue == kind)
        #expect(keyset.keyIDs.count == 2)
        #expect(keyset.state(of: kid, at: place.clock.now) == .primary)
        #expect(try Keyset(folder: place.path + "/").keyIDs == keyset.keyIDs)
        // The path of the keystore's file gives the same keyset.
        #expect(try Keyset(file: place.filePath).keyIDs == keyset.keyIDs)
    }

    @Test("an encrypted keyset is loaded with its passphrase only") func encrypted() throws {
        let place = try Operator(.sender, under: .cheap, .test("right"))
        for load in [Self.folder, Self.file] {
            #expect(try load(place, .test("right")).keyIDs.count == 1)
            expect(.wrongSecret) { try load(place, .test("wrong")) }
            expect(.secretNeeded) { try load(place, nil) }
            expect(.secretNeeded) { try load(place, .command("cat")) }
        }
    }

    @Test("a keyset under a wrap command is loaded with it") func underACommand() throws {
        let keyServer = try KeyServer()
        let place = try Operator(.sender, under: .command, keyServer.secret)
        #expect(try Keyset(folder: place.path, secret: keyServer.secret).keyIDs.count == 1)
        try keyServer.stop()
        expect(.wrapCommandFailed) { try Keyset(folder: place.path, secret: keyServer.secret) }
    }

    @Test("a damaged keyset is refused") func damaged() throws {
        let place = try Operator()
        var text = try place.text()
        let index = try #require(text.firstRange(of: Array(#""k":""#.utf8))?.upperBound)
        text[index] ^= 1
        try place.write(text)
        for load in [Self.folder, Self.file] { expect(.damaged) { try load(place, nil) } }
        try place.write(Array(text.dropLast(2)))
        for load in [Self.folder, Self.file] {
            let error = #expect(throws: KeyError.self) { try load(place, nil) }
            #expect(error?.code == .malformed)
            #expect(error?.reason.hasPrefix(place.path) == true)
        }
    }

    @Test("demo keys are refused unless they are allowed") func demoKeys() throws {
        let place = try Operator()
        try place.write(Array(DemoKeys.sharedJSON.utf8))
        expect(.demoKeys) { try Keyset(folder: place.path) }
        expect(.demoKeys) { try Keyset(file: place.filePath) }
        #expect(try Keyset(folder: place.path, allowsDemoKeys: true).keyIDs.count == 1)
        // Demo keys are public, so their file's mode doesn't matter.
        try place.folder.setMode(0o644, of: "Keys/push/keyset.json")
        #expect(try Keyset(file: place.filePath, allowsDemoKeys: true).keyIDs.count == 1)
    }

    @Test("a missing keyset is reported as not found") func missing() throws {
        let folder = try TemporaryFolder()
        expect(.notFound) { try Keyset(folder: folder.path + "/none") }
        expect(.notFound) { try Keyset(folder: folder.path) }
        expect(.notFound) { try Keyset(file: folder.path + "/none") }
        expect(.notAKeyset) { try Keyset(file: folder.path) }
        expect(.notAKeyset) { try Keyset(file: "/dev/null") }
    }

    @Test("a folder that other users can open is refused") func looseFolder() throws {
        let place = try Operator()
        try place.folder.setMode(0o750, of: "Keys/push")
        expect(.looseMode) { try Keyset(folder: place.path) }
        // For a file's path, only the file's mode matters.
        #expect(try Keyset(file: place.filePath).keyIDs.count == 1)
    }

    /// A file with secrets must be private. A published file may be readable for all users.
    @Test("a file with secrets that other users can open is refused", arguments: [0o604, 0o602, 0o660, 0o666, 0o644])
    func looseFile(mode: Int) throws {
        let (place, senders) = (try Operator(), try Operator(.sender, under: .cheap, .test("right")))
        for place in [place, senders] {
            try place.folder.setMode(mode, of: "Keys/push/keyset.json")
            expect(.looseMode) { try Self.file(place, place.secret) }
        }
        try senders.folder.setMode(mode, of: "Keys/push/public.jwks.json")
        #expect(try Keyset(file: senders.path + "/public.jwks.json").kind == .sender)
    }

    /// Kubernetes mounts a secret for a program that isn't root like this: root owns it, and the program's group can read it.
    @Test("a file of root may be readable for its group, and a file of another user may not") func groupOfRoot() throws
    {
        let place = try Operator()
        for mode in [0o640, 0o440] {
            try place.folder.setMode(mode, of: "Keys/push/keyset.json")
            if getuid() == 0 {
                #expect(try Keyset(file: place.filePath).keyIDs.count == 1)
            } else {
                expect(.looseMode) { try Keyset(file: place.filePath) }
            }
        }
    }

    @Test("a link to a key file is followed, and a link in the place of a keyset's folder is refused")
    func aLinkToAFile() throws {
        let place = try Operator()
        let link = place.folder.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.filePath)
        #expect(try Keyset(file: link).keyIDs.count == 1)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.path)
        expect(.notAKeyset) { try Keyset(folder: link) }
    }

    private static func folder(_ place: Operator, _ secret: KeysetSecret?) throws -> Keyset {
        try Keyset(folder: place.path, secret: secret)
    }

    private static func file(_ place: Operator, _ secret: KeysetSecret?) throws -> Keyset {
        try Keyset(file: place.filePath, secret: secret)
    }

    private func expect(_ code: KeystoreError.Code, _ body: () throws -> Keyset) {
        let error = #expect(throws: KeystoreError.self) { _ = try body() }
        #expect(error?.code == code, "\(error.map(\.reason) ?? "")")
    }
}
