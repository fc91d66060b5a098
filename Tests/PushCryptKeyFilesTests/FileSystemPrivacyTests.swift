import Foundation
import PushCryptKeyFiles
import PushCryptTestSupport
import Testing

@Suite("FileSystem.requirePrivateFile")
struct FileSystemPrivacyTests {
    @Test("takes what only its owner can reach", arguments: [0o600, 0o400, 0o700, 0o000])
    func fine(_ mode: Int) throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [1])
        try folder.setMode(mode, of: "file")
        try FileSystem.requirePrivateFile(folder.path + "/file")
    }

    @Test("refuses what others can reach", arguments: [0o640, 0o644, 0o620, 0o604, 0o610, 0o601])
    func loose(_ mode: Int) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        try FileSystem.replace(path, with: [1])
        try folder.setMode(mode, of: "file")
        let error = #expect(throws: KeyStoreError.self) { try FileSystem.requirePrivateFile(path) }
        #expect(error?.code == .looseMode)
        #expect(error?.reason.hasSuffix("chmod 600 \(path)") == true)
    }

    @Test("refuses a symbolic link, wherever it points", arguments: ["file", "nowhere", "link", "."])
    func link(_ destination: String) throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [1])
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: destination)
        let error = #expect(throws: KeyStoreError.self) {
            try FileSystem.requirePrivateFile(folder.path + "/link")
        }
        #expect(error?.code == .notAKeyset)
        #expect(error?.reason.contains("symbolic link") == true)
    }

    @Test("says when nothing is there")
    func missing() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: KeyStoreError.self) {
            try FileSystem.requirePrivateFile(folder.path + "/none")
        }
        #expect(error?.code == .notFound)
    }
}
