import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// The guides show files that are compiled, and their commands run.
@Suite("guides") struct GuideTests {
    private static let guides = "Sources/PushCryptExtension/PushCryptExtension.docc/"
    private static let adding = guides + "AddTheExtension.md"
    private static let showing = guides + "DecideWhatIsShown.md"
    private static let sending = guides + "RegisterDevicesAndSend.md"
    private static let using = guides + "UseNotificationsInTheApp.md"
    private static let recipes = guides + "Recipes.md"
    private static let examples = "Examples/iOSExtension/"
    private static let app = "Examples/iOSApp/"
    private static let content = "Examples/iOSContentExtension/"
    private static let files = "Tests/PushCryptREADMETests/Guides/"

    @Test(
        "a guide contains the example code that is compiled",
        arguments: [
            (
                adding, "swift",
                [
                    examples + "SharedAppGroup.swift", examples + "NotificationService.swift",
                    files + "ModifiedSuffix.swift", files + "ContactName.swift", files + "SimulatorBackend.swift",
                ]
            ),
            (adding, "xml", [examples + "Info.plist", examples + "NotificationService.entitlements"]),
            (showing, "swift", [files + "ChatMessages.swift"]),
            (
                sending, "swift",
                [
                    files + "DeviceRegistration.swift", app + "AppDelegate.swift", files + "SignOut.swift",
                    files + "UnsignedSenders.swift", files + "RegisteredDevice.swift",
                ]
            ),
            (
                using, "swift",
                [
                    files + "SharedConfiguration.swift", files + "AppNotifications.swift", files + "SilentPushes.swift",
                    app + "AppDelegate+Notifications.swift", files + "PictureMessages.swift",
                    content + "NotificationViewController.swift", app + "SystemReceipts.swift",
                ]
            ),
            (using, "xml", [content + "Info.plist"]),
            (
                recipes, "swift",
                [
                    "PictureCategory", "DefaultBody", "DeliveryReceipts", "ImageAddress", "MigratedAttachments",
                    "Recipes",
                ].map { files + $0 + ".swift" }
            ),
        ])
    func showsTheseFiles(_ guide: String, _ language: String, _ files: [String]) throws {
        let blocks = try Documents.blocks(of: language, in: guide).map { $0.text + "\n" }
        #expect(try blocks == files.map(Documents.text(of:)))
    }

    @Test("all Swift code of the guides is in example files, and the guides show all of them") func allExamples() throws
    {
        let guides = Documents.files(in: String(Self.guides.dropLast()), withSuffix: ".md")
        let shown = try Set(guides.flatMap { try Documents.blocks(of: "swift", in: $0).map { $0.text + "\n" } })
        let files = [Self.files, Self.examples, Self.app, Self.content].flatMap {
            Documents.files(in: String($0.dropLast()), withSuffix: ".swift")
        }
        let examples = files.filter { !$0.hasSuffix("Tests.swift") && !$0.hasSuffix("RecipeServer.swift") }
        let texts = try examples.map { (name: $0, text: try Documents.text(of: $0)) }
        #expect(texts.filter { !shown.contains($0.text) }.map(\.name) == [])
        #expect(shown.subtracting(texts.map(\.text)) == [])
    }

    /// The payload for the Simulator opens with the app's keys and is signed with a key of the set that the app accepts.
    @Test("the guide's command seals a push for the simulator") func sealsForTheSimulator() throws {
        let register = """
            pushcrypt keys create Keys/phone --kind recipient --psk --insecure-plaintext
            (umask 077; pushcrypt keys export Keys/phone --registration > Keys/registration.json)
            """
        let steps = try Documents.blocks(of: "sh", in: Self.adding)
            .filter { $0.heading == "Try it in the Simulator" }.map(\.text)
        #expect(steps.count == 2)
        let simulator = #"""
            xcrun() {
                echo "$1 $2 $3 $4"
                pushcrypt open --keys Keys/phone --trust senders.json --pins sender-pins.json --topic "$4" < "$5"
            }
            """#
        let outputs = try TranscriptTests.run(
            [steps[0], register, "cat sender-pins.json", "cat senders.json", steps[1]], replacing: simulator)
        try #require(outputs.count == 5)
        let place = try TemporaryFolder()
        let pins = try SenderPins(
            folder: place.path + "/senders", publishers: SenderSetPins(json: Array(outputs[2].utf8)),
            topic: "com.example.app")
        #expect(try pins.accept(Array(outputs[3].utf8)))
        let payload = #"{"aps":{"alert":{"title":"Dr. Amara Osei","body":"Your results are in."},"sound":"default"}}"#
        #expect(outputs[4] == "simctl push booted com.example.app\n" + payload)
    }
}
