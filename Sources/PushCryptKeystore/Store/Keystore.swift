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

    /// The paths of all keysets including the demo keysets, for commands that only read. For a keyset, its own path.
    ///
    /// A folder that this user can't look into counts as a keyset: the command that uses it then reports it. `lost+found` belongs to
    /// the file system.
    package func everyKeyset() throws -> [String] {
        guard try !KeysetFolder(path).hasKeyset else { return [path] }
        return try KeystoreError.convertingFileErrors { try FileSystem.names(in: path) }
            .filter { !$0.hasPrefix(".") && $0 != "lost+found" }.map { path + "/" + $0 }
            .filter { FileSystem.isFolder($0) && (try? KeysetFolder($0).hasKeyset) != false }
    }

    /// The keysets that the arguments of a command name: keysets, and those of keystores. The same keyset counts once.
    ///
    /// - Returns: also each argument without a keyset, with the error: `KeystoreError` with `notFound`, or as
    ///   ``keysets(includingDemoKeys:)`` throws it.
    package static func keysets(
        in paths: [String], includingDemoKeys: Bool
    ) -> [(path: String, problem: (any Error)?)] {
        let found = paths.flatMap { path -> [(path: String, problem: (any Error)?)] in
            do {
                let keysets = try Keystore(path).keysets(includingDemoKeys: includingDemoKeys)
                guard !keysets.isEmpty else { throw noKeyset(in: path) }
                return keysets.map { ($0, nil) }
            } catch {
                return [(path, error)]
            }
        }
        return distinct(found, by: \.path)
    }

    /// The paths without those that name the same folder as an earlier one.
    package static func distinct(_ paths: [String]) -> [String] { distinct(paths, by: \.self) }

    private static func distinct<Element>(_ elements: [Element], by path: (Element) -> String) -> [Element] {
        var known: Set<String> = []
        return elements.filter { known.insert(identity(of: path($0))).inserted }
    }

    static func identity(of path: String) -> String { FileSystem.resolvedPath(path) ?? path }

    static func noKeyset(in path: String) -> KeystoreError { KeystoreError(.notFound, "no keyset in \(path)") }
}
