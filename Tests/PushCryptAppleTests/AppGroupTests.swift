import Foundation
import PushCryptApple
import PushCryptExtension
import PushCryptTestSupport
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

    @Test("the report of an app without the entitlement says so, and names the app")
    func reportWithoutEntitlement() throws {
        let report = DeviceReport(appGroup: "group.test.none") { _ in .unsigned }
        let text = String(decoding: try report.json(), as: UTF8.self)
        #expect(text.contains(#""keyStorage":{"error":"notEntitled""#) && text.contains(#""topic":"com.example.app""#))
    }

    @Test("the report of an app group whose app lacks its pins has keys and store, and an error for the senders")
    func reportWithoutPins() throws {
        let name = "group.test.\(UUID().uuidString)"
        let folder = FileManager.default.stubAppGroup(name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("pushes"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let report = DeviceReport(appGroup: name) { .pinned(try $0.senderPins(resource: "none")) }
        let text = String(decoding: try report.json(), as: UTF8.self)
        #expect(text.contains(#""keys":[]"#) && text.contains(#""store":"available""#))
        #expect(text.contains(#""senders":{"error":"missingResource""#))
    }
    #endif

    @Test("an app group with a given folder returns paths in it")
    func givenFolder() {
        let group = AppGroup(
            "group.a", folder: URL(fileURLWithPath: "/a b", isDirectory: true), keychainGroup: "TEAM.keys",
            topic: "com.example")
        #expect(group.path(of: "store") == "/a b/store")
        #expect(group.identifier == "group.a" && group.keychainGroup == "TEAM.keys")
    }

    @Test("two calls with one role return the same store, and another role or folder returns another store")
    func stores() {
        let group = AppGroup("group.a", folder: URL(fileURLWithPath: "/a", isDirectory: true), topic: "com.example")
        let other = AppGroup("group.a", folder: URL(fileURLWithPath: "/b", isDirectory: true), topic: "com.example")
        let store = group.store(.app)
        #expect(group.store(.app) === store)
        #expect(group.store(.extension) !== store && other.store(.app) !== store)
    }

    @Test("a configuration of an app group shows what the recipient has chosen")
    func preview() throws {
        let folder = try TemporaryFolder()
        let group = AppGroup("group.a", folder: folder.url, topic: "com.example")
        let configuration = try ExtensionConfiguration(group, senders: .unsigned, fallback: .bundled(.standard))
        #expect(configuration.preview?.current == .everything)
        try group.previewChoice.set(.titleOnly)
        #expect(configuration.preview?.current == .titleOnly)
    }
}
