import Foundation
import PushCryptApple
import Testing
import UserNotifications

@Suite struct AppGroupTests {
    #if !canImport(Darwin)  // macOS returns a folder for every group.
    @Test("an entitled app group returns the path of its folder")
    func entitled() throws {
        let name = "group.test.\(UUID().uuidString)"
        let folder = FileManager.default.stubAppGroup(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let group = try AppGroup(name)
        #expect(group.folder.path == folder.path)
        #expect(group.path(of: "boot") == folder.path + "/boot")
        #expect(group.keychainGroup == name && group.topic == "com.example.app")
        #expect(try AppGroup(name, keychainGroup: "TEAM.keys").keychainGroup == "TEAM.keys")
    }

    @Test("an app group without an entitlement throws notEntitled")
    func notEntitled() throws {
        let error = #expect(throws: ExtensionSetupError.self) { try AppGroup("group.test.none") }
        #expect(error?.code == .notEntitled)
        #expect(error?.description.contains("group.test.none") == true)
    }
    #endif

    @Test("an app group with a given folder returns paths in it")
    func givenFolder() {
        let group = AppGroup(
            folder: URL(fileURLWithPath: "/a b", isDirectory: true), keychainGroup: "TEAM.keys", topic: "com.example")
        #expect(group.path(of: "store") == "/a b/store")
    }
}
