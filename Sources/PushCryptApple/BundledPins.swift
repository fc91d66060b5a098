public import Foundation
public import PushCryptExtension

extension SenderSetPins {
    /// Reads the pins from a JSON file in the app's resources, so that only an app update changes them. The extension reads
    /// the app's file, too.
    ///
    /// - Parameter name: the name of the file without `.json`.
    /// - Throws: ``ExtensionSetupError`` with `missingResource`; `KeyError` for a file that doesn't have the form of pins.
    public init(resource name: String, in bundle: Bundle = .containingApp) throws {
        let file = bundle.resourceURL?.appendingPathComponent(name + ".json")
        guard let file, FileManager.default.fileExists(atPath: file.path) else {
            throw ExtensionSetupError(.missingResource, "the app's resources don't contain \(name).json")
        }
        try self.init(json: [UInt8](try Data(contentsOf: file)))
    }
}
