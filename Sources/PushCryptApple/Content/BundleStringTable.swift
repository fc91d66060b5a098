public import Foundation
public import PushCryptExtension

/// The Localizable.strings of a bundle in the user's language. With a table, `DeliverySession` resolves loc-keys before the
/// app's stages run; without one, the system resolves them when it shows the notification.
public struct BundleStringTable: StringTable {
    // Unchecked: `Bundle` may be used from any thread, but isn't Sendable in every Foundation.
    private struct SafeBundle: @unchecked Sendable {
        let bundle: Bundle
    }

    private let safe: SafeBundle
    private let table: String?

    /// Creates a table of the app's bundle, also in its extension, as in the system.
    ///
    /// - Parameter table: the name of the strings file without its extension; nil for Localizable.
    public init(_ bundle: Bundle = .containingApp, table: String? = nil) {
        safe = SafeBundle(bundle: bundle)
        self.table = table
    }

    /// Returns the text of a key in the user's language; nil if the table doesn't have the key.
    public func string(for key: String) -> String? {
        // The bundle returns this noncharacter for a missing key.
        let missing = "\u{FFFF}"
        let text = safe.bundle.localizedString(forKey: key, value: missing, table: table)
        return text == missing ? nil : text
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
