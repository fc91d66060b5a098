import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// The guides show files of the sample that are compiled, and their commands run.
@Suite("guides") struct GuideTests {
    private static let guides = "Sources/PushCryptExtension/PushCryptExtension.docc"
    private static let tutorial = guides + "/FirstPush.md"
    private static let sample = "Examples/iOS"
    private static let folders = ["App", "NotificationContent", "NotificationService", "Recipes", "Scenes", "Shared"]

    @Test("all Swift code of the guides is in files of the sample, and the guides show or name each of these files")
    func allExamples() throws {
        let guides = Documents.files(in: Self.guides, withSuffix: ".md")
        let shown = try Set(guides.flatMap { try Documents.blocks(of: "swift", in: $0).map { $0.text + "\n" } })
        let page = try Documents.text(of: Self.guides + "/Recipes.md")
        let files = Self.folders.flatMap { Documents.files(in: "\(Self.sample)/\($0)", withSuffix: ".swift") }
        let examples = try files.map { (name: $0.dropFirst(Self.sample.count + 1), text: try Documents.text(of: $0)) }
        #expect(examples.filter { !shown.contains($0.text) && !page.contains("`\($0.name)`") }.map(\.name) == [])
        #expect(shown.subtracting(examples.map(\.text)) == [])
        let named = page.matches(of: /`([A-Za-z]+\/[A-Za-z+]+\.swift)`/).map { $0.1 }
        #expect(Set(named).subtracting(examples.map(\.name)) == [])
    }

    @Test("the tutorial begins with seven words, and the app's part has at most 25 lines and the extension 15")
    func isShort() throws {
        let words = try Documents.text(of: Self.tutorial).components(separatedBy: "\n## ")[1]
        #expect(words.components(separatedBy: "\n").count { $0.hasPrefix("| ") } == 7 + 2)
        func lines(_ names: String...) throws -> Int {
            try names.map { name in
                try Documents.text(of: "\(Self.sample)/\(name).swift").components(separatedBy: "\n")
                    .count { !$0.contains(#/^ *(\/\/|$)/#) }
            }.reduce(0, +)
        }
        #expect(try lines("App/AppDelegate") <= 25)
        #expect(try lines("NotificationService/NotificationService", "Shared/SharedConfiguration") <= 15)
    }

    @Test("the guides of the app have at most 4,000 words") func words() throws {
        let pages = ["FirstPush", "OnTheDevice", "Recipes"].map { "\(Self.guides)/\($0).md" }
        #expect(Documents.files(in: Self.guides, withSuffix: ".md").count == pages.count + 1)
        let counts = try pages.map { try Documents.text(of: $0).split { $0.isWhitespace }.count }
        #expect(counts.reduce(0, +) <= 4_000)
    }

    /// The push opens with the app's key. The set that `init` makes of the same keyset has the key of the code.
    @Test("the tutorial's commands seal a push that opens for the key of the code, and then for pins of the signed set")
    func commands() throws {
        let open = "pushcrypt open payload.apns --keys Phone/keys --topic com.example.app --trust"
        let steps = try Documents.blocks(of: "sh", in: Self.tutorial).map(\.text)
        try #require(steps.count == 6)
        // Make a key, push, watch the log, make a record, show, init.
        let simulator = #"""
            xcrun() { if [ "$2" = push ]; then echo "$3 $4 $5"; else echo "$PWD"; fi; }
            """#
        let documents = "mkdir Documents; mv Keys/record.json Documents/record.json"
        let outputs = try TranscriptTests.run(
            [
                steps[0], steps[3] + "\n" + documents, steps[1], steps[4], "\(open) senders.json", steps[5],
                "\(open) www/*.1.json --pins sender-pins.json", "pushcrypt keys export Keys/senders --format raw",
            ], replacing: simulator)
        let payload = #"{"aps":{"alert":{"title":"Dr. Amara Osei","body":"Your results are in."},"sound":"default"}}"#
        #expect(outputs[0].contains(#/^[A-Za-z0-9_-]{11}\n[A-Za-z0-9+\/]{43}=$/#))
        #expect(outputs[2] == "booted com.example.app payload.apns")
        #expect(outputs[3].contains("Dr. Amara Osei") && outputs[3].contains("✓ restored"))
        #expect(outputs[4] == payload && outputs[6] == payload)
        #expect(outputs[0].hasSuffix(outputs[7]))
    }
}
