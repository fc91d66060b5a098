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
    static func read(_ path: String, language: String?) throws -> [String: String] {
        let bytes = try FileSystem.readFile(path)
        if path.hasSuffix(".xcstrings") { return try catalog(bytes, path, language) }
        let texts =
            bytes.first == UInt8(ascii: "{") && (try? JSONText(bytes)) != nil
            ? try? JSONDecoder().decode([String: String].self, from: Data(bytes))
            : try? PropertyListDecoder().decode([String: String].self, from: Data(bytes))
        guard let texts else {
            throw Failure(.dataError, "\(path) is no .strings file, string catalog or JSON object of texts")
        }
        return texts
    }

    static func isCatalog(_ path: String) -> Bool { path.hasSuffix(".xcstrings") }

    private struct Catalog: Decodable {
        struct Text: Decodable { let localizations: [String: Localization]? }
        struct Localization: Decodable { let stringUnit: Unit? }
        struct Unit: Decodable { let value: String }

        let sourceLanguage: String
        let strings: [String: Text]
    }

    private static func catalog(_ bytes: [UInt8], _ path: String, _ language: String?) throws -> [String: String] {
        guard let catalog = try? JSONDecoder().decode(Catalog.self, from: Data(bytes)) else {
            throw Failure(.dataError, "\(path) isn't a string catalog")
        }
        let language = language ?? catalog.sourceLanguage
        var texts: [String: String] = [:]
        for (key, text) in catalog.strings {
            let known = text.localizations ?? [:]
            // The system falls back to the source language, and a key without a text there is its own text.
            texts[key] =
                known[language]?.stringUnit?.value ?? known[catalog.sourceLanguage]?.stringUnit?.value ?? key
        }
        guard
            language == catalog.sourceLanguage
                || catalog.strings.values.contains(where: { $0.localizations?[language] != nil })
        else { throw Failure(.dataError, "\(path) has no texts in the language \(language)") }
        return texts
    }
}
