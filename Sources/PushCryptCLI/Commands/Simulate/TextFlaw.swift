import PushCryptCore
import PushCryptExtension

/// Why a push doesn't show a text of the app as its sender meant it.
struct TextFlaw {
    let key: String
    /// What is wrong, and what to write; nil if the app doesn't have the key, and the alert no literal text in its place.
    let reason: String?

    /// The keys that the app doesn't have, and in whose place the alert's literal text is shown. A sender may mean that: an older
    /// version of the app doesn't have the key.
    static func replacedKeys(in alert: JSONValue?, _ strings: (any StringTable)?) -> [String] {
        LocalizedKey.all(in: alert).filter { key in
            strings?.string(for: key.name) == nil && alert?[key.part.rawValue]?.isVisibleString == true
        }.map(\.name)
    }

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
                let format = try StringFormat(text)
                guard arguments.count >= format.argumentCount else {
                    let needed = NumberText.counted(format.argumentCount, "argument")
                    return flaw("\(key.name) needs \(needed), and \(member) has \(arguments.count)")
                }
                guard format.text(arguments).isVisible else {
                    return flaw("the app's text of \(key.name) with its arguments has no visible character")
                }
                return nil
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
