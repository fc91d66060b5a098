import PushCryptCore
import PushCryptExtension

/// Why a push doesn't show a text of the app as its sender meant it.
struct TextFlaw {
    let key: String
    /// What is wrong, and what to write; nil if the app doesn't have the key, and the alert no literal text in its place.
    let reason: String?

    /// The flaws of an alert's texts, in the order title, subtitle, body.
    static func all(in alert: JSONValue?, _ strings: (any StringTable)?) -> [TextFlaw] {
        LocalizedKey.all(in: alert).compactMap { key in
            let member = key.part.argumentsName
            func flaw(_ reason: String?) -> TextFlaw { TextFlaw(key: key.name, reason: reason) }
            guard let arguments = key.arguments else {
                return flaw("the app's text of \(key.name) gets an object or array in \(member): send strings")
            }
            guard let text = strings?.string(for: key.name) else {
                return alert?[key.part.rawValue]?.isVisibleString == true ? nil : flaw(nil)
            }
            do throws(StringFormat.UnusableSpecifier) {
                let needed = try StringFormat(text).argumentCount
                guard arguments.count < needed else { return nil }
                return flaw(
                    "\(key.name) needs \(NumberText.counted(needed, "argument")), and \(member) has \(arguments.count)")
            } catch {
                return flaw("the app's text of \(key.name) has \(error.remedy)")
            }
        }
    }
}

extension StringFormat.UnusableSpecifier {
    /// The specifier, and what to write in its place: the arguments of a push are texts.
    fileprivate var remedy: String {
        isPlural
            ? "plural forms (\(text)), and a push can't choose one: write one text with %@"
            : "the specifier \(text), and the arguments of a push are texts: write %@ or %1$@, or %% for a percent sign"
    }
}
