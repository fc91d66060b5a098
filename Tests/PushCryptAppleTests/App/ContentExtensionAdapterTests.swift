import Foundation
import PushCryptAppleUI
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications
import UserNotificationsUI

/// An app's code: its content extension. It writes down what it sees.
@MainActor private final class ChatView: NotificationContentExtension {
    nonisolated let categories = ["CHAT", "PHOTO"]
    private(set) var log: [String] = []
    static let reply = NotificationAction(id: "REPLY", title: "Reply", textInput: .init(buttonTitle: "Send"))
    private var context: (any ContentExtensionContext)?
    private let ends = AsyncStream.makeStream(of: Void.self)

    func received(_ notification: DeliveredNotification, in context: any ContentExtensionContext) async {
        self.context = context
        let content = notification.request.content
        log.append("\(content.title.literal ?? "") \(content.category ?? "")")
        for file in content.attachments { read(file, context) }
        context.setActions(
            ["KEEP", "CLOSE", "PASS"].map { NotificationAction(id: $0, title: $0 + "!") } + [Self.reply])
        ends.continuation.yield()
    }

    private func read(_ file: NotificationContent.Attachment, _ context: any ContentExtensionContext) {
        let unknown = NotificationContent.Attachment(identifier: "x", path: file.path + "x", type: .png)
        let before = context.read(file)?.count
        let starts = [context.startAccessing(unknown), context.startAccessing(file), context.startAccessing(file)]
        let during = context.read(file)?.count
        context.stopAccessing(file)
        log.append("\(before ?? 0) \(starts) \(during ?? 0) \(context.read(file)?.count ?? 0)")
    }

    func received(_ action: NotificationAction, text: String?) async -> ContentExtensionResponse {
        log.append("\(action.title) \(text ?? "")")
        switch action.id {
        case "KEEP":
            context?.setActions([Self.reply])
            return .doNotDismiss
        case "CLOSE": return .dismiss
        default: return .dismissAndForward
        }
    }

    func isShown() async {
        for await _ in ends.stream { return }
    }
}

/// What runs the app's code.
@MainActor private protocol Host {
    func open(_ content: NotificationContent) async throws
    var actions: [String] { get }
    func choose(_ actionID: String, text: String?) async throws -> ContentExtensionResponse
}

@MainActor private final class Phone: Host {
    private final class App: NotificationResponder {
        var responses: [ReceivedResponse] = []
        func received(_ response: ReceivedResponse) async { responses.append(response) }
    }

    private let center = SimulatedNotificationCenter(SimulatedClock())
    private let app = App()
    private var context: SimulatedContentExtensionContext?

    init(_ view: ChatView) async throws {
        _ = try await center.requestAuthorization([.alert])
        center.addContentExtension(view)
        center.setResponder(app)
    }

    func open(_ content: NotificationContent) async throws {
        try await center.add(NotificationRequest(id: "1", content: content))
        context = try await center.expand("1")
    }

    var actions: [String] { context?.actions?.map(\.id) ?? [] }

    func choose(_ actionID: String, text: String?) async throws -> ContentExtensionResponse {
        try await center.choose(actionID, of: "1", text: text)
        if !center.deliveredNotifications.isEmpty { return .doNotDismiss }
        return app.responses.map(\.action) == [.custom(actionID)] ? .dismissAndForward : .dismiss
    }
}

/// Apple's side, as its documentation describes it.
@MainActor private final class System: Host {
    private let view: ChatView
    private let context = NSExtensionContext()
    private let adapter: ContentExtensionAdapter
    private var notification = UNNotification(
        stubRequest: UNNotificationRequest(identifier: "", content: UNNotificationContent(), trigger: nil))

    init(_ view: ChatView) {
        self.view = view
        adapter = ContentExtensionAdapter(view, in: context)
    }

    func open(_ content: NotificationContent) async {
        notification = UNNotification(
            stubRequest: UNNotificationRequest(identifier: "1", content: content.systemContent, trigger: nil))
        adapter.didReceive(notification)
        if view.categories.contains(content.category ?? "") { await view.isShown() }
    }

    var actions: [String] { context.notificationActions.map(\.identifier) }

    func choose(_ actionID: String, text: String?) async -> ContentExtensionResponse {
        let response =
            text.map {
                UNTextInputNotificationResponse(
                    stubNotification: notification, actionIdentifier: actionID, userText: $0)
            } ?? UNNotificationResponse(stubNotification: notification, actionIdentifier: actionID)
        switch await option(response) {
        case .doNotDismiss: return .doNotDismiss
        case .dismiss: return .dismiss
        case .dismissAndForwardAction: return .dismissAndForward
        }
    }

    private func option(_ response: UNNotificationResponse) async -> UNNotificationContentExtensionResponseOption {
        await withCheckedContinuation { continuation in
            adapter.didReceive(response) { continuation.resume(returning: $0) }
        }
    }
}

/// The same content extension on Apple's systems and in the simulator.
@MainActor @Suite struct ContentExtensionAdapterTests {
    private let view = ChatView()

    enum Place: CaseIterable {
        case appleSystem, simulator
    }

    private func host(_ place: Place) async throws -> any Host {
        switch place {
        case .appleSystem: System(view)
        case .simulator: try await Phone(view)
        }
    }

    private func content(_ category: String?) -> NotificationContent {
        var content = NotificationContent()
        (content.title.literal, content.category) = ("Zoë", category)
        return content
    }

    @Test(
        "an answer decides whether the notification stays and whether the app gets the action, also one with a text",
        arguments: Place.allCases,
        [
            ("KEEP", nil, ContentExtensionResponse.doNotDismiss, "KEEP! "), ("CLOSE", nil, .dismiss, "CLOSE! "),
            ("PASS", nil, .dismissAndForward, "PASS! "), ("REPLY", "At eight", .dismissAndForward, "Reply At eight"),
        ])
    func answers(
        _ place: Place, _ action: (id: String, text: String?, answer: ContentExtensionResponse, log: String)
    ) async throws {
        let host = try await host(place)
        try await host.open(content("CHAT"))
        #expect(try await host.choose(action.id, text: action.text) == action.answer)
        #expect(view.log == ["Zoë CHAT", action.log])
    }

    @Test("the actions are those that the extension sets, also after an action", arguments: Place.allCases)
    func actions(_ place: Place) async throws {
        let host = try await host(place)
        #expect(host.actions == [])
        try await host.open(content("CHAT"))
        #expect(host.actions == ["KEEP", "CLOSE", "PASS", "REPLY"])
        #expect(try await host.choose("KEEP", text: nil) == .doNotDismiss)
        #expect(host.actions == ["REPLY"])
    }

    @Test("an attachment is read between start and stop of its access only", arguments: Place.allCases)
    func attachment(_ place: Place) async throws {
        let host = try await host(place)
        let folder = try TemporaryFolder()
        let png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 7, count: 12)
        let url = URL(fileURLWithPath: folder.path + "/a.png")
        try Data(png).write(to: url)
        var content = content("PHOTO")
        content.attachments = [.init(identifier: "a", path: url.path, type: .png)]
        try await host.open(content)
        #expect(view.log == ["Zoë PHOTO", "0 [false, true, true] 20 0"])
        #expect(url.stubAccessCount == 0)
    }

    @Test("a notification of another category isn't shown by the extension", arguments: Place.allCases)
    func otherCategory(_ place: Place) async throws {
        let host = try await host(place)
        try await host.open(content("NEWS"))
        #expect(host.actions == [])
        try await host.open(content(nil))
        try await host.open(content("CHAT"))
        #expect(view.log == ["Zoë CHAT"])
    }

    @Test func `a tap, a dismissal and an action of another category go to the app without the extension`() async {
        let system = System(view)
        await system.open(content("CHAT"))
        for id in [UNNotificationDefaultActionIdentifier, UNNotificationDismissActionIdentifier] {
            #expect(await system.choose(id, text: nil) == .dismissAndForward)
        }
        await system.open(content("NEWS"))
        #expect(await system.choose("CLOSE", text: nil) == .dismissAndForward)
        #expect(view.log == ["Zoë CHAT"])
    }

    @Test func `an action that isn't listed, or without an extension context, has its name and no title`() async {
        let adapter = ContentExtensionAdapter(view, in: nil)
        let notification = UNNotification(
            stubRequest: UNNotificationRequest(identifier: "1", content: content("CHAT").systemContent, trigger: nil))
        adapter.didReceive(notification)
        await view.isShown()
        let option = await withCheckedContinuation { continuation in
            adapter.didReceive(
                UNNotificationResponse(stubNotification: notification, actionIdentifier: "CLOSE")
            ) { continuation.resume(returning: $0) }
        }
        #expect(option == .dismiss && view.log == ["Zoë CHAT", " "])
    }
}
