import PushCryptCore
import PushCryptExtension
import PushCryptSimulator

/// The steps of a push's story. Each is a view of the page.
enum StoryStep: String, CaseIterable {
    case sent = "Sent"
    case wire = "On the wire"
    case screen = "On the lock screen"

    var explanation: String {
        switch self {
        case .sent: "What the backend wrote and sealed."
        case .wire: "What Apple's servers and every other relay can read, and how long it is."
        case .screen: "The same phone with and without the app's extension. Simulated: nothing was sent."
        }
    }
}

extension SimulatedPage {
    var header: String {
        let title = [
            HTML.element("h1", [:], [HTML.foreign("span", class: "name", appName), " on the lock screen"]),
            HTML.element("p", class: "facts", [:], [HTML.foreign("span", class: "name", topic), ", " + facts]),
        ]
        let schemes = ["System", "Light", "Dark"].map { scheme in
            let isChosen = scheme == "System"
            let input = HTML.void(
                "input",
                isChosen
                    ? ["type": "radio", "name": "scheme", "id": scheme.lowercased(), "checked": ""]
                    : ["type": "radio", "name": "scheme", "id": scheme.lowercased()])
            return HTML.element("label", [:], [input, HTML.text("span", scheme)])
        }
        return HTML.element(
            "header", [:],
            [
                AppIcon.html(of: appName), HTML.element("div", class: "headline", [:], title),
                HTML.element("fieldset", class: "schemes", [:], [HTML.text("legend", "Appearance")] + schemes),
            ])
    }

    private var facts: String {
        let time = ScreenTime(lockScreens.after.time + screenOffset)
        return "\(pushes.count) \(pushes.count == 1 ? "push" : "pushes"), \(time.day), \(time.clock) \(timeZone)"
    }

    /// The slider. The script shows it.
    var slider: String {
        let last = StoryStep.allCases.count - 1
        let input = HTML.void(
            "input",
            [
                "id": "story", "type": "range", "min": "0", "max": "\(last)", "value": "\(last)",
                "aria-valuetext": StoryStep.screen.rawValue,
            ])
        let stops = StoryStep.allCases.map { HTML.element("button", ["type": "button"], [$0.rawValue]) }
        return HTML.element(
            "nav", ["hidden": "", "aria-label": "Story"],
            [
                HTML.element("label", ["for": "story"], ["The way of the notification"]), input,
                HTML.element("div", class: "stops", [:], stops),
            ])
    }

    func view(_ step: StoryStep) -> String {
        let content =
            switch step {
            case .sent: pushes.map(sent)
            case .wire: pushes.map(wire)
            case .screen: [phones, verdicts]
            }
        let head = [HTML.text("h2", step.rawValue), HTML.text("p", class: "explanation", step.explanation)]
        return HTML.element("section", ["data-step": step.rawValue], head + content)
    }

    private var phones: String {
        let files = pushes.flatMap(\.attachments).map { ($0.path, $0) }
        let before = PhoneMarkup(
            caption: "Without the extension", screen: lockScreens.before, screenOffset: screenOffset, appName: appName)
        let after = PhoneMarkup(
            caption: "With the extension", screen: lockScreens.after, screenOffset: screenOffset, appName: appName,
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
            push.reception.failure == .notSealed || push.text?.root["pushcrypt"] == nil
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
        let sealed = text.root["pushcrypt"]?["sealed"]
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
        let time = duration > .zero ? ", shown after \(NumberText.decimal(duration.inSeconds, 1)) s" : ""
        let notes = shownNotes.map { "; \($0)" }.joined()
        let verdict = verdict.hasSuffix(".") ? String(verdict.dropLast()) : verdict
        return HTML.foreign(
            "span", class: isComplete ? "verdict good" : "verdict bad",
            (isComplete ? "✓ " : "✗ ") + verdict + time + notes)
    }
}
