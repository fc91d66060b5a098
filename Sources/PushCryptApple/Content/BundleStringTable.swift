public import Foundation
public import PushCryptExtension

/// The Localizable.strings of a bundle, in the language of the user. With it, `DeliverySession` resolves loc-keys before the
/// app's stages; without a table the system does, when it shows the notification.
public struct BundleStringTable: StringTable {
    // Unchecked: `Bundle` may be used from any thread, and not every Foundation says so.
    private struct SafeBundle: @unchecked Sendable {
        let bundle: Bundle
    }

    private let safe: SafeBundle
    private let table: String?

    /// - Parameters:
    ///   - bundle: the app's own, also in its extension: that is where the system looks.
    ///   - table: the name of the strings file without its extension; nil for Localizable.
    public init(_ bundle: Bundle = .containingApp, table: String? = nil) {
        safe = SafeBundle(bundle: bundle)
        self.table = table
    }

    /// The text of a key in the language of the user; nil for a key that the table doesn't have.
    public func string(for key: String) -> String? {
        // What no strings file says: the bundle gives it back for a key that it doesn't have.
        let missing = "\u{FFFF}"
        let text = safe.bundle.localizedString(forKey: key, value: missing, table: table)
        return text == missing ? nil : text
    }
}

extension Bundle {
    /// The bundle of the app: in an extension not `main`, but the app that the extension is in.
    public static var containingApp: Bundle {
        containingApp(of: .main)
    }

    /// ```
    /// App.app/PlugIns/Extension.appex            iOS and its kin
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
