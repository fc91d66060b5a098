import PushCryptCore
import PushCryptFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An app's texts: a `.strings` or `.stringsdict` file, a string catalog of Xcode (`.xcstrings`) or a JSON object.
enum LocalizedStrings {
    /// Reads the texts of a language.
    ///
    /// - Parameter language: needed for a catalog, whose source language is the default.
    /// - Returns: the texts, and a note if they are in another language.
    static func read(_ path: String, language: String?) throws -> (texts: [String: String], note: String?) {
        let bytes = try FileSystem.readFile(path)
        if path.hasSuffix(".xcstrings") { return try catalog(bytes, path, language) }
        let texts =
            bytes.first == UInt8(ascii: "{") && (try? JSONText(bytes)) != nil
            ? try? JSONDecoder().decode([String: String].self, from: Data(bytes))
            : try? PropertyList.decode([String: Entry].self, bytes).mapValues(\.text)
        guard let texts else {
            throw Failure(.dataError, "\(path) is not a .strings file, a string catalog or a JSON object of texts")
        }
        return (texts, nil)
    }

    static func isCatalog(_ path: String) -> Bool { path.hasSuffix(".xcstrings") }

    /// A text, or the plural forms of one in a `.stringsdict` file.
    private struct Entry: Decodable {
        enum Key: String, CodingKey { case format = "NSStringLocalizedFormatKey" }

        let text: String

        init(from decoder: any Decoder) throws {
            let text = try? decoder.singleValueContainer().decode(String.self)
            self.text = try text ?? decoder.container(keyedBy: Key.self).decode(String.self, forKey: .format)
        }
    }

    private struct Catalog: Decodable {
        struct Text: Decodable { let localizations: [String: Localization]? }
        struct Localization: Decodable {
            let stringUnit: Unit?
            let variations: Variations?

            /// The text as the system finds it.
            var text: String? { stringUnit?.value ?? variations?.text }
        }
        struct Variations: Decodable {
            let plural: [String: Localization]?
            let device: [String: Localization]?

            /// Plural forms are compiled to a specifier for them.
            var text: String? { plural == nil ? (device?["iphone"] ?? device?["other"])?.text : "%#@plural@" }
        }
        struct Unit: Decodable { let value: String }

        let sourceLanguage: String
        let strings: [String: Text]
    }

    private static func catalog(
        _ bytes: [UInt8], _ path: String, _ wanted: String?
    ) throws -> (texts: [String: String], note: String?) {
        guard let catalog = try? JSONDecoder().decode(Catalog.self, from: Data(bytes)) else {
            throw Failure(.dataError, "\(path) isn't a string catalog")
        }
        let language = language(for: wanted ?? catalog.sourceLanguage, in: catalog)
        // The system falls back to the source language.
        let texts = catalog.strings.compactMapValues { text in
            [language, catalog.sourceLanguage].lazy.compactMap { text.localizations?[$0]?.text }.first
        }
        let isOther = wanted.map { $0.lowercased().replacing("_", with: "-") != language.lowercased() } ?? false
        return (texts, isOther ? "\(path) has no texts in \(wanted ?? ""): those in \(language) are shown" : nil)
    }

    /// The system takes the most exact language that the app has, de for de-CH, and otherwise the source language. `de_CH` and
    /// `DE` are accepted too.
    private static func language(for wanted: String, in catalog: Catalog) -> String {
        let languages = [catalog.sourceLanguage] + catalog.strings.values.flatMap { ($0.localizations ?? [:]).keys }
        let known = Dictionary(languages.map { ($0.lowercased(), $0) }) { first, _ in first }
        var parts = wanted.lowercased().split { "-_".contains($0) }
        while !parts.isEmpty {
            if let name = known[parts.joined(separator: "-")] { return name }
            parts.removeLast()
        }
        return catalog.sourceLanguage
    }
}
