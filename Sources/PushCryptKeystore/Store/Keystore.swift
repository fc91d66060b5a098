import PushCryptCore
import PushCryptFiles
package import PushCryptKeysets

/// A folder of keysets.
package struct Keystore: Sendable {
    package let path: String

    package init(_ path: String) {
        self.path = KeysetFolder(path).path
    }

    /// The paths of the keysets, sorted.
    ///
    /// - Parameter includingDemoKeys: whether to include keysets with published demo keys.
    /// - Throws: `KeystoreError` if the folder can't be read.
    package func keysets(includingDemoKeys: Bool) throws(KeystoreError) -> [String] {
        try everyKeyset().filter { includingDemoKeys || !Self.isDemo($0) }
    }

    /// The paths of all keysets including the demo keysets, for commands that only read.
    package func everyKeyset() throws(KeystoreError) -> [String] {
        try KeystoreError.converting { () throws(FileError) in try FileSystem.names(in: path) }
            .filter { !$0.hasPrefix(".") }.map { path + "/" + $0 }
            .filter { FileSystem.isFolder($0) && KeysetFolder($0).exists }
    }

    private static func isDemo(_ path: String) -> Bool {
        guard let file = try? KeysetFolder(path).file() else { return false }
        return DemoKeys.covers(file.keyIDs)
    }
}
