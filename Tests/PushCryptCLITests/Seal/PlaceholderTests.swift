import Foundation
import Testing

@Suite("placeholder of seal", .ownThreads)
struct PlaceholderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let options: [String]
        let alert: [String: String]

        var testDescription: String { options.joined(separator: " ") }
    }

    static let cases = [
        Case(options: [], alert: ["title": "New message", "body": "Open the app to read it"]),
        Case(options: ["--placeholder-title", "Ping"], alert: ["title": "Ping"]),
        Case(options: ["--placeholder-body", "Neu: „é“ \" \\ 🙂"], alert: ["body": "Neu: „é“ \" \\ 🙂"]),
        Case(options: ["--placeholder-title", "T", "--placeholder-body", "B"], alert: ["title": "T", "body": "B"]),
        Case(options: ["--placeholder-title-loc-key", "T"], alert: ["title-loc-key": "T"]),
        Case(options: ["--placeholder-body-loc-key", "B"], alert: ["loc-key": "B"]),
        Case(
            options: [
                "--placeholder-title", "T", "--placeholder-title-loc-key", "TK", "--placeholder-body", "B",
                "--placeholder-body-loc-key", "BK",
            ],
            alert: ["title": "T", "title-loc-key": "TK", "body": "B", "loc-key": "BK"]),
    ]

    @Test("the placeholder options become the visible alert", arguments: cases)
    func alert(_ test: Case) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let output = try place.run(
            ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic] + test.options, stdin: Workplace.inner)
        #expect(output.isSuccess, "\(output)")
        #expect(try Payload.member("aps.alert", of: output.payload) as? [String: String] == test.alert)
        #expect(try Payload.member("aps.mutable-content", of: output.payload) as? Int == 1)
    }

    @Test(
        "a placeholder without text is refused as bad usage",
        arguments: [["--placeholder-title", ""], ["--placeholder-body-loc-key", ""]])
    func empty(_ options: [String]) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let output = try place.run(
            ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic] + options, stdin: Workplace.inner)
        expectRefusal(output, 64)
    }

    @Test("open shows the placeholder when it fails")
    func fallback() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let sealed = try place.sealed(to: "Keys/ios", "--device", "phone", "--placeholder-title", "Ping")
        let output = try place.open(keys: "Keys/ios", "--device", "phone", payload: try Payload.tampered(sealed))
        try expectPlaceholder(output, "undecryptable", title: "Ping")
    }
}
