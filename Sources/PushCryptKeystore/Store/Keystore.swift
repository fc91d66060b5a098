import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

/// A folder of keysets.
package struct Keystore: Sendable {
    package let path: String

    package init(_ path: String) { self.path = KeysetFolder(path).path }

    /// - Throws: `KeystoreError` if the folder can't be read.
    package func keysets(includingDemoKeys: Bool) throws -> [String] {
        try everyKeyset().filter { path in
            includingDemoKeys || (try? KeysetFolder(path).file()).map { DemoKeys.covers($0.keyIDs) } != true
        }
    }

    /// The paths of all keysets including the demo keysets, for commands that only read.
    package func everyKeyset() throws -> [String] {
        try KeystoreError.convertingFileErrors { try FileSystem.names(in: path) }
            .filter { !$0.hasPrefix(".") }.map { path + "/" + $0 }
            .filter { FileSystem.isFolder($0) && (KeysetFolder($0).exists || KeysetFolder($0).hasLostKeyset) }
    }
}
