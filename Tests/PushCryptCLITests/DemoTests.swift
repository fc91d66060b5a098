import Foundation
import Testing

@Suite("demo", .ownThreads)
struct DemoTests {
    @Test("demo in an empty folder shows one restored alert and three failures")
    func output() throws {
        let place = try Workplace()
        let output = try place.run("demo")
        #expect(output.isSuccess, "\(output)")
        let frames = output.text.split(separator: "╭").dropFirst().map(String.init)
        #expect(frames.count == 4)
        #expect(frames[0].contains("│ Dr. Amara Osei "))
        #expect(frames[0].contains("│ Your results are in: all clear. See you on "))
        #expect(frames[0].contains("✓ restored"))
        for (frame, reason) in zip(frames.dropFirst(), ["undecryptable", "unknownKey", "timedOut"]) {
            #expect(frame.contains("│ New message "))
            #expect(frame.contains("│ Open the app to read it "))
            #expect(frame.contains("✗ \(reason): the placeholder is shown"))
            #expect(!frame.contains("Amara"))
        }
        #expect(try place.names().isEmpty)
    }

    @Test("the payload that demo sends contains no text of the alert")
    func sealed() throws {
        let text = try CLI.run(["demo"]).text
        let travels = try #require(text.split(separator: "2. What travels").last?.split(separator: "3. What").first)
        #expect(travels.contains("mutable-content"))
        #expect(!travels.contains("Amara") && !travels.contains("results") && !travels.contains("40713"))
    }

    @Test("two runs of demo print different payloads, and no colour codes into a pipe")
    func fresh() throws {
        let outputs = try (0..<2).map { _ in try CLI.shell(#""$PUSHCRYPT" demo | cat"#).stdout }
        #expect(outputs[0] != outputs[1] && !outputs[0].contains(0x1b))
    }
}
