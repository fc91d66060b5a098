import Foundation
import Testing

@Suite("keys list on a terminal", .ownThreads)
struct TerminalColourTests {
    private static let colours = [
        "expired": "90", "retiring": "33", "revoked": "31", "primary": "32", "pending": "34", "destroyed": "2;37",
    ]

    @Test("keys list colours each state and each phase of the timeline")
    func states() throws {
        let (place, kids) = try makePlace()
        let text = try PseudoTerminal().run("\"$PUSHCRYPT\" keys list Keys/app --at \(Workplace.now)", in: place)
        for (state, kid) in zip(SampleLifecycles.states, kids) {
            let colour = try #require(Self.colours[state])
            #expect(text.contains("\(kid)  \u{1b}[\(colour)m\(state)\u{1b}[0m"), "\(state)")
            #expect(text.contains("\u{1b}[\(colour)m\(kid)  \u{1b}[0m"), "\(state)")
        }
        #expect(text.contains("\u{1b}[34m░░\u{1b}[0m\u{1b}[32m████"))
        #expect(text.contains("\u{1b}[1m│\u{1b}[0m"))
        let plain = try place.run("keys", "list", "Keys/app", "--at", Workplace.now)
        #expect(Self.withoutEscapes(text) == plain.text)
    }

    @Test("output with NO_COLOR contains no escape codes, also if the variable is empty", arguments: ["1", ""])
    func noColour(_ value: String) throws {
        let (place, _) = try makePlace()
        for command in ["keys list Keys/app", "keys list Keys"] {
            let text = try PseudoTerminal().run("NO_COLOR=\(value) \"$PUSHCRYPT\" \(command)", in: place)
            #expect(!text.isEmpty && !text.unicodeScalars.contains("\u{1b}"), "\(command)")
        }
    }

    @Test(
        "output is as wide as the terminal, and COLUMNS overrides it",
        arguments: [(60, nil), (80, nil), (120, nil), (80, 70), (0, nil)])
    func width(_ columns: Int, _ variable: Int?) throws {
        let (place, _) = try makePlace()
        let setting = variable.map { "COLUMNS=\($0) " } ?? ""
        let text = try PseudoTerminal(columns: UInt16(columns))
            .run("\(setting)\"$PUSHCRYPT\" keys list Keys/app --at \(Workplace.now)", in: place)
        let longest = Self.withoutEscapes(text).split(separator: "\n").map(\.count).max()
        #expect(longest == variable ?? (columns == 0 ? 100 : columns))
    }

    @Test("keys list of a keystore uses colours")
    func others() throws {
        let (place, kids) = try makePlace()
        let list = try PseudoTerminal().run("\"$PUSHCRYPT\" keys list Keys --at \(Workplace.now)", in: place)
        #expect(list.contains("\u{1b}[32m\(kids[4])\u{1b}[0m"))
        #expect(list.contains("\u{1b}[1;33mdue: destroy key"))
    }

    private func makePlace() throws -> (Workplace, [String]) {
        let place = try Workplace()
        return (place, try place.writeKeyset("Keys/app", SampleLifecycles.all))
    }

    private static func withoutEscapes(_ text: String) -> String {
        text.replacing(/\u{1b}\[[0-9;]*m/, with: "")
    }
}
