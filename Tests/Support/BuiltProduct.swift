public import Foundation

/// An executable that was built with the tests.
public enum BuiltProduct {
    public struct NotFound: Error, CustomStringConvertible {
        let name: String

        public var description: String { "no \(name) beside the test bundle: build that product first" }
    }

    /// Finds a product beside the test bundle. The platform and the runner determine which of these paths is in the build
    /// folder: the process, its arguments or its bundles.
    public static func url(_ name: String) throws -> URL {
        let process = [Bundle.main.executableURL, Bundle.main.bundleURL].compactMap(\.self)
        let arguments = CommandLine.arguments.map { URL(fileURLWithPath: $0) }
        for start in process + arguments + Bundle.allBundles.map(\.bundleURL) {
            for folder in start.andFoldersAbove.prefix(5) {
                let candidate = folder.appendingPathComponent(name, isDirectory: false)
                if candidate.isExecutableFile { return candidate }
            }
        }
        throw NotFound(name: name)
    }
}

extension URL {
    fileprivate var andFoldersAbove: [URL] {
        var folders = [self]
        while let last = folders.last, last.path != "/", !last.path.isEmpty {
            folders.append(last.deletingLastPathComponent())
        }
        return folders
    }

    fileprivate var isExecutableFile: Bool {
        let isFile = (try? resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile ?? false
        return isFile && FileManager.default.isExecutableFile(atPath: path)
    }
}
