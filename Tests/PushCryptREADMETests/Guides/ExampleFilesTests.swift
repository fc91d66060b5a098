import Foundation
import Testing

/// The files beside the extension's source match it and each other.
@Suite("files of the example extension") struct ExampleFilesTests {
    private func text(_ name: String) throws -> String { try Documents.text(of: "Examples/iOSExtension/" + name) }

    private func propertyList(_ name: String) throws -> [String: Any] {
        let plist = try unsafe PropertyListSerialization.propertyList(from: Data(text(name).utf8), format: nil)
        return try #require(plist as? [String: Any])
    }

    @Test("the extension has fewer than 15 lines, and the app's part calls pushcrypt in fewer than 10") func areShort()
        throws
    {
        #expect(try text("NotificationService.swift").count { $0 == "\n" } < 15)
        let code = try ["NotificationService.swift", "SharedAppGroup.swift"].flatMap { name in
            try text(name).components(separatedBy: "\n").filter { !$0.contains(#/^ *(\/\/|$)/#) }
        }
        #expect(code.count < 15)
        let app = try Documents.text(of: "Tests/PushCryptREADMETests/Guides/DeviceRegistration.swift")
        let calls = app.components(separatedBy: "\n").filter {
            $0.contains(#/AppGroup\(|SenderSet\(|PushRegistration\(|pushes\.[a-z]+[A-Za-z]*\(/#)
        }
        #expect((1..<10).contains(calls.count))
    }

    @Test("Info.plist names the class of the extension") func namesItsClass() throws {
        let keys = try #require(try propertyList("Info.plist")["NSExtension"] as? [String: String])
        #expect(keys["NSExtensionPointIdentifier"] == "com.apple.usernotifications.service")
        #expect(keys["NSExtensionPrincipalClass"] == "$(PRODUCT_MODULE_NAME).NotificationService")
        #expect(try text("NotificationService.swift").contains("final class NotificationService:"))
    }

    @Test(
        "the entitlements name the app group and no keychain group",
        arguments: ["App.entitlements", "NotificationService.entitlements"])
    func sharesWithTheApp(_ name: String) throws {
        let keys = try propertyList(name)
        #expect(keys["com.apple.security.application-groups"] as? [String] == ["group.com.example.app"])
        #expect(keys["keychain-access-groups"] == nil)
        #expect((keys["aps-environment"] != nil) == (name == "App.entitlements"))
    }
}
