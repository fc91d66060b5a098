import PushCryptCore
import PushCryptPrimitives
import PushCryptSimulator

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What became of the pushes, as a page that needs nothing else: no network, no script, no other file.
struct SimulatedPage {
    let appName: String
    let topic: String
    let pushes: [SimulatedPush]
    let lockScreens: (before: LockScreen, after: LockScreen)

    func html() throws -> String {
        let head = HTML.element("head", [:], try headLines().map { "\n" + $0 } + ["\n"])
        let main = HTML.element("main", [:], [screens, sent, wire].map { "\n" + $0 } + ["\n"])
        let footer = HTML.text(
            "footer", "This page contains the text of the notifications: keep it as private as they are.")
        let body = HTML.element("body", [:], [header, main, footer].map { "\n" + $0 } + ["\n"])
        return "<!DOCTYPE html>\n" + HTML.element("html", ["lang": "en"], ["\n", head, "\n", body, "\n"]) + "\n"
    }

    private func headLines() throws -> [String] {
        // The source expression that allows one inline block (Content Security Policy Level 3, section 2.3.1).
        let css = Array(PageStyle.css.utf8)
        let digest = Data(try DefaultBackend.shared.sha256(css.bytes)).base64EncodedString()
        let policy =
            "default-src 'none'; img-src data:; style-src 'sha256-\(digest)'; base-uri 'none'; form-action 'none'"
        return [
            HTML.void("meta", ["charset": "utf-8"]),
            HTML.void("meta", ["http-equiv": "Content-Security-Policy", "content": policy]),
            HTML.void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"]),
            HTML.void("meta", ["name": "color-scheme", "content": "light dark"]),
            HTML.text("title", "\(appName) on the lock screen"),
            HTML.element("style", [:], [PageStyle.css]),
        ]
    }
}
