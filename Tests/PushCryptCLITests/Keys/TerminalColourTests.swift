#if os(Linux)
import Foundation
import Testing

@Suite("keys list on a terminal", .ownThreads, .enabled(if: TerminalSession.isAvailable, "no pseudo-terminals here"))
struct TerminalColourTests {
    private static let colours = [
        "expired": "90", "retiring": "33", "revoked": "31", "primary": "32", "pending": "34", "destroyed": "2;37",
    ]

    private let place: Workplace
    private let kids: [String]

    init() throws {
        place = try Workplace()
        kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
    }

    @Test("keys list colours each state, each phase of the timeline, and in a keystore what is due")
    func states() throws {
        let text = try place.screen("\"$PUSHCRYPT\" keys list Keys/app --at \(Workplace.now)")
        for (state, kid) in zip(SampleLifecycles.states, kids) {
            let colour = try #require(Self.colours[state])
            #expect(text.contains("\(kid)  \u{1b}[\(colour)m\(state)\u{1b}[0m"), "\(state)")
            #expect(text.contains("\u{1b}[\(colour)m\(kid)  \u{1b}[0m"), "\(state)")
        }
        #expect(text.contains("\u{1b}[34m░░\u{1b}[0m\u{1b}[32m████"))
        let plain = try place.run("keys", "list", "Keys/app", "--at", Workplace.now)
        #expect(Self.withoutEscapes(text) == plain.text)
        let list = try place.screen("\"$PUSHCRYPT\" keys list Keys --at \(Workplace.now)")
        #expect(list.contains("\u{1b}[32m\(kids[4])\u{1b}[0m") && list.contains("\u{1b}[1;33mdue: destroy key"))
    }

    @Test("output with NO_COLOR contains no escape codes, also if the variable is empty", arguments: ["1", ""])
    func noColour(_ value: String) throws {
        for command in ["keys list Keys/app", "keys list Keys"] {
            let text = try place.screen("NO_COLOR=\(value) \"$PUSHCRYPT\" \(command)")
            #expect(!text.isEmpty && !text.unicodeScalars.contains("\u{1b}"), "\(command)")
        }
    }

    @Test(
        "output is as wide as the terminal, and COLUMNS overrides it",
        arguments: [(60, nil), (120, nil), (80, 70), (0, nil)])
    func width(_ columns: Int, _ variable: Int?) throws {
        let setting = variable.map { "COLUMNS=\($0) " } ?? ""
        let text = try place.screen(
            "\(setting)\"$PUSHCRYPT\" keys list Keys/app --at \(Workplace.now)", columns: columns)
        let longest = Self.withoutEscapes(text).split(separator: "\n").map(\.count).max()
        #expect(longest == variable ?? (columns == 0 ? 100 : columns))
    }

    private static func withoutEscapes(_ text: String) -> String {
        text.replacing(/\u{1b}\[[0-9;]*m/, with: "")
    }
}
#endif
