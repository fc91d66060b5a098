import PushCryptCore
import PushCryptPrimitives
import PushCryptSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What became of the pushes, as a page that needs nothing else: no network, no other file.
///
/// Its views are the steps of the story. A script shows one of them at a time; without it all are visible.
struct SimulatedPage {
    let appName: String
    let topic: String
    let pushes: [SimulatedPush]
    let lockScreens: (before: LockScreen, after: LockScreen)
    /// How many seconds the clock on the screen is ahead of the pushes' time in UTC.
    let screenOffset: Int64
    let timeZone: String

    func html() throws -> String {
        let head = HTML.element("head", [:], try headLines().map { "\n" + $0 } + ["\n"])
        let main = HTML.element("main", [:], StoryStep.allCases.map { "\n" + view($0) } + ["\n"])
        let footer = HTML.text(
            "footer", "This page contains the text of the notifications: keep it as private as they are.")
        let script = HTML.element("script", [:], [PageStyle.script])
        let body = HTML.element("body", [:], [header, slider, main, footer, script].map { "\n" + $0 } + ["\n"])
        return "<!DOCTYPE html>\n" + HTML.element("html", ["lang": "en"], ["\n", head, "\n", body, "\n"]) + "\n"
    }

    private func headLines() throws -> [String] {
        let (style, script) = (try Self.hash(PageStyle.css), try Self.hash(PageStyle.script))
        let policy =
            "default-src 'none'; img-src data:; style-src \(style); script-src \(script); base-uri 'none'; form-action 'none'"
        return [
            HTML.void("meta", ["charset": "utf-8"]),
            HTML.void("meta", ["http-equiv": "Content-Security-Policy", "content": policy]),
            HTML.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            HTML.void("meta", ["name": "color-scheme", "content": "light dark"]),
            HTML.text("title", "\(appName) on the lock screen"),
            HTML.element("style", [:], [PageStyle.css]),
        ]
    }

    /// The source expression that allows one inline block (Content Security Policy Level 3, section 2.3.1).
    private static func hash(_ block: String) throws -> String {
        let bytes = Array(block.utf8)
        let digest = try DefaultBackend.shared.sha256(bytes.bytes)
        return "'sha256-\(Data(digest).base64EncodedString())'"
    }
}
