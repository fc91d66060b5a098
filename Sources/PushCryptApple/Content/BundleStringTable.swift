public import Foundation
public import PushCryptExtension

/// The Localizable.strings of a bundle in the user's language. `PushCryptNotificationService` resolves the loc-keys of pushes
/// with the app's table, unless its configuration has another one.
///
/// The language is chosen among the bundle's own. Foundation would use only languages that the extension's bundle has too,
/// and an extension usually has no localisations.
public struct BundleStringTable: StringTable {
    // Unchecked: `Bundle` may be used from any thread, but isn't Sendable in every Foundation.
    private struct SafeBundle: @unchecked Sendable {
        let bundle: Bundle
    }

    private let safe: SafeBundle
    /// The folder of the user's language, such as `de.lproj`; nil if the bundle has none.
    private let language: SafeBundle?
    private let table: String?

    /// Creates a table of the app's bundle, also in its extension, as in the system.
    ///
    /// - Parameter table: the name of the strings file without its extension; nil for Localizable.
    public init(_ bundle: Bundle = .containingApp, table: String? = nil) {
        let languages = Bundle.preferredLocalizations(
            from: bundle.localizations, forPreferences: Locale.preferredLanguages)
        self.init(bundle, table: table, language: languages.first)
    }

    /// - Parameter name: one of the bundle's localisations.
    init(_ bundle: Bundle, table: String?, language name: String?) {
        safe = SafeBundle(bundle: bundle)
        let folder = name.flatMap { bundle.path(forResource: $0, ofType: "lproj") }.flatMap(Bundle.init(path:))
        language = folder.map { SafeBundle(bundle: $0) }
        self.table = table
    }

    /// Returns the text of a key in the user's language; nil if the table doesn't have the key.
    public func string(for key: String) -> String? {
        // A bundle returns this noncharacter for a missing key.
        let missing = "\u{FFFF}"
        for bundle in [language, safe].compactMap(\.?.bundle) {
            let text = bundle.localizedString(forKey: key, value: missing, table: table)
            if text != missing { return text }
        }
        return nil
    }
}

extension Bundle {
    /// The app's bundle: `main`, or in an extension the bundle of the containing app.
    public static var containingApp: Bundle { containingApp(of: .main) }

    /// ```
    /// App.app/PlugIns/Extension.appex            iOS, tvOS, watchOS, visionOS
    /// App.app/Contents/PlugIns/Extension.appex   macOS
    /// ```
    static func containingApp(of bundle: Bundle) -> Bundle {
        var folder = bundle.bundleURL
        guard folder.pathExtension == "appex" else { return bundle }
        for _ in 0..<3 {
            folder.deleteLastPathComponent()
            if folder.pathExtension == "app" { return Bundle(url: folder) ?? bundle }
        }
        return bundle
    }
}
