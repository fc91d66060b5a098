import PushCryptCore
import PushCryptFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An app's texts: a `.strings` file, a string catalog of Xcode (`.xcstrings`) or a JSON object.
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
            : try? PropertyListDecoder().decode([String: String].self, from: Data(bytes))
        guard let texts else {
            throw Failure(.dataError, "\(path) is no .strings file, string catalog or JSON object of texts")
        }
        return (texts, nil)
    }

    static func isCatalog(_ path: String) -> Bool { path.hasSuffix(".xcstrings") }

    private struct Catalog: Decodable {
        struct Text: Decodable { let localizations: [String: Localization]? }
        struct Localization: Decodable { let stringUnit: Unit? }
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
        var texts: [String: String] = [:]
        for (key, text) in catalog.strings {
            let known = text.localizations ?? [:]
            // The system falls back to the source language, and a key without a text there is its own text.
            texts[key] =
                known[language]?.stringUnit?.value ?? known[catalog.sourceLanguage]?.stringUnit?.value ?? key
        }
        let isOther = wanted != nil && wanted != language
        return (texts, isOther ? "\(path) has no texts in \(wanted ?? ""): those in \(language) are shown" : nil)
    }

    /// The system takes the most exact language that the app has, de for de-CH, and otherwise the source language.
    private static func language(for wanted: String, in catalog: Catalog) -> String {
        let known = Set(catalog.strings.values.flatMap { ($0.localizations ?? [:]).keys })
        var parts = wanted.split(separator: "-")
        while !parts.isEmpty {
            let name = parts.joined(separator: "-")
            if name == catalog.sourceLanguage || known.contains(name) { return name }
            parts.removeLast()
        }
        return catalog.sourceLanguage
    }
}
