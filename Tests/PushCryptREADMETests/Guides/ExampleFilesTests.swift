import Foundation
import Testing

/// The files beside the extension's source match it and each other.
@Suite("files of the example extension") struct ExampleFilesTests {
    private func text(_ name: String) throws -> String { try Documents.text(of: "Examples/iOSExtension/" + name) }

    private func propertyList(_ name: String) throws -> [String: Any] {
        let plist = try unsafe PropertyListSerialization.propertyList(from: Data(text(name).utf8), format: nil)
        return try #require(plist as? [String: Any])
    }

    @Test("the example extension has fewer than 40 lines") func sourceIsShort() throws {
        #expect(
            try text("NotificationService.swift").split(separator: "\n", omittingEmptySubsequences: false).count < 40)
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
