import PushCryptCore
import PushCryptExtension
import PushCryptSimulator

extension SimulatedPage {
    var header: String {
        let time = ScreenTime(lockScreens.after.time)
        let facts = ", \(NumberText.counted(pushes.count, "push")), \(time.day), \(time.clock) UTC"
        let title = [
            HTML.element("h1", [:], [HTML.foreign("span", class: "name", appName), " on the lock screen"]),
            HTML.element("p", class: "facts", [:], [HTML.foreign("span", class: "name", topic), facts]),
        ]
        return HTML.element(
            "header", [:], [AppIcon.html(of: appName), HTML.element("div", class: "headline", [:], title)])
    }

    var screens: String {
        section(
            "On the lock screen", "The same phone with and without the app's extension. Simulated: nothing was sent.",
            [phones, verdicts])
    }

    var sent: String { section("Sent", "What the backend wrote and sealed.", pushes.map(sent)) }

    var wire: String {
        section(
            "On the wire", "What Apple's servers and every other relay can read, and how long it is.", pushes.map(wire))
    }

    private func section(_ title: String, _ explanation: String, _ content: [String]) -> String {
        HTML.element(
            "section", [:], [HTML.text("h2", title), HTML.text("p", class: "explanation", explanation)] + content)
    }

    private var phones: String {
        let files = pushes.flatMap(\.attachments).map { ($0.path, $0) }
        let before = PhoneMarkup(
            caption: "Without the extension", screen: lockScreens.before, appName: appName)
        let after = PhoneMarkup(
            caption: "With the extension", screen: lockScreens.after, appName: appName,
            attachments: Dictionary(files) { $1 },
            restored: Set(pushes.filter(\.reception.isRestored).compactMap(\.reception.requestID)))
        return HTML.element("div", class: "phones", [:], [before.html, after.html])
    }

    private var verdicts: String {
        HTML.element("ol", class: "verdicts", [:], pushes.map { HTML.element("li", [:], [$0.verdictHTML]) })
    }

    private func sent(_ push: SimulatedPush) -> String {
        if let sent = push.sent.flatMap({ try? JSONText($0) }) {
            return card(push, [JSONMarkup(value: sent.root).html])
        }
        let reason =
            push.reception.failure == .notSealed
                || push.text.flatMap { try? EnvelopePlaces.all.envelope(in: $0.root) } == nil
            ? "It wasn't sealed: what is on the wire is what was sent."
            : "The phone didn't restore it, so what was sealed isn't known here."
        return card(push, [HTML.text("p", class: "unknown", reason)])
    }

    private func wire(_ push: SimulatedPush) -> String {
        guard let text = push.text else {
            let raw = HTML.element(
                "pre", class: "json", ["tabindex": "0", "dir": "auto"],
                [HTML.escaped(String(decoding: push.payload, as: UTF8.self))])
            return card(push, [HTML.text("p", class: "unknown", "\(push.payload.count) bytes that aren't JSON."), raw])
        }
        let sealed = (try? EnvelopePlaces.all.envelope(in: text.root))?["sealed"]
        return card(
            push,
            [
                BudgetMarkup(text, paddingByteCount: push.paddingByteCount).html,
                JSONMarkup(value: text.root, sealed: sealed).html,
            ])
    }

    private func card(_ push: SimulatedPush, _ content: [String]) -> String {
        let head = HTML.element("h3", [:], [HTML.text("span", "Push \(push.number)"), " ", push.verdictHTML])
        return HTML.element("article", class: "card", [:], [head] + content)
    }
}

extension SimulatedPush {
    /// The payload; nil if it isn't strict JSON.
    fileprivate var text: JSONText? { try? JSONText(payload) }

    /// What became of the push, with a mark that doesn't need colour.
    fileprivate var verdictHTML: String {
        let notes = shownNotes.map { "; \($0)" }.joined()
        let verdict = verdict.hasSuffix(".") ? String(verdict.dropLast()) : verdict
        return HTML.foreign(
            "span", class: isComplete ? "verdict good" : "verdict bad",
            (isComplete ? "✓ " : "✗ ") + verdict + notes)
    }
}
