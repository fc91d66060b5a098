import Foundation
import PushCryptApple
import PushCryptSender
import PushCryptSimulator
import Testing

/// The guide's content extension in the simulator, and its Info.plist.
@MainActor @Suite("example content extension") struct ContentExtensionGuideTests {
    private static let picture = [UInt8]("GIF89a".utf8) + [UInt8](repeating: 0, count: 10)

    @MainActor private final class Screen {
        var picture: Data?
    }

    @MainActor private final class App: NotificationResponder {
        var replies: [String?] = []
        func received(_ response: ReceivedResponse) async { replies.append(response.text) }
    }

    private func phone(showing screen: Screen) async throws -> (TestDevice, App) {
        let phone = try await TestDevice(topic: "com.example.app", plainMembers: ["image_url"])
        let (center, app) = (phone.device.center, App())
        phone.device.network.serve(Self.picture, at: "https://example.com/p")
        center.addContentExtension(
            PictureMessages(verifier: NotificationVerifier(store: phone.store)) { screen.picture = $0 })
        center.setResponder(app, verifier: NotificationVerifier(store: phone.store))
        return (phone, app)
    }

    private let payload = #"{"aps":{"alert":"Hi","category":"PICTURE"},"image_url":"https://example.com/p"}"#

    @Test("the picture of a restored message is shown; a like keeps it, and a reply reaches the app with its text")
    func restored() async throws {
        let screen = Screen()
        let (phone, app) = try await phone(showing: screen)
        let push = try Sealer(topic: "com.example.app").seal(
            Data(payload.utf8), to: Recipient(jwk: phone.registration), placeholder: .standard)
        let id = try #require(await phone.receive(push.json).requestID)
        let shown = try await phone.device.center.expand(id)
        #expect(screen.picture == Data(Self.picture))
        #expect(shown?.actions?.map(\.id) == ["LIKE", "REPLY"] && shown?.accessedPaths.isEmpty == true)
        try await phone.device.center.choose("LIKE", of: id)
        #expect(shown?.actions?.map(\.id) == ["REPLY"] && app.replies.isEmpty)
        try await phone.device.center.choose("REPLY", of: id, text: "Lovely")
        #expect(app.replies == ["Lovely"] && phone.device.center.deliveredNotifications.isEmpty)
    }

    @Test("the picture of a notification that wasn't restored isn't shown")
    func unverified() async throws {
        let screen = Screen()
        let (phone, _) = try await phone(showing: screen)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".gif")
        try Data(Self.picture).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var content = NotificationContent()
        (content.title.literal, content.category) = ("Hi", "PICTURE")
        content.attachments = [.init(identifier: "1", path: file.path, type: .gif)]
        try await phone.device.center.add(NotificationRequest(id: "1", content: content))
        let shown = try await phone.device.center.expand("1")
        #expect(screen.picture == nil && shown != nil && shown?.actions == nil)
    }

    @Test("Info.plist names the categories of the code, its view controller, and whether title and body are hidden")
    func infoPlist() throws {
        let text = try Documents.text(of: "Examples/iOS/NotificationContent/Info.plist")
        let plist = try unsafe PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
        let keys = try #require((plist as? [String: Any])?["NSExtension"] as? [String: Any])
        #expect(keys["NSExtensionPointIdentifier"] as? String == "com.apple.usernotifications.content-extension")
        #expect(keys["NSExtensionPrincipalClass"] as? String == "$(PRODUCT_MODULE_NAME).NotificationViewController")
        let attributes = try #require(keys["NSExtensionAttributes"] as? [String: Any])
        let code = PictureMessages(verifier: nil) { _ in }
        #expect(attributes["UNNotificationExtensionCategory"] as? [String] == code.categories)
        #expect(attributes["UNNotificationExtensionDefaultContentHidden"] as? Bool == code.hidesDefaultContent)
    }
}
