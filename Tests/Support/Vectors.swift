public import Foundation

/// The public test vectors, which aren't part of the project, and the project's own vectors in Conformance/vectors.
public enum Vectors {
    private static let chosenFolder = ProcessInfo.processInfo.environment["PUSHCRYPT_VECTORS"]

    /// `PUSHCRYPT_VECTORS`, or else `.build/vectors`, which scripts/vectors makes, or `../shared/vectors` from the package's root.
    public static let folder: URL = {
        if let chosenFolder { return URL(fileURLWithPath: chosenFolder, isDirectory: true) }
        let fetched = packageRoot.appendingPathComponent(".build/vectors", isDirectory: true)
        guard !FileManager.default.fileExists(atPath: fetched.path) else { return fetched }
        return packageRoot.deletingLastPathComponent().appendingPathComponent("shared/vectors", isDirectory: true)
    }()

    /// Enables suites that need the public vectors. If `PUSHCRYPT_VECTORS` names a missing folder, they fail and aren't
    /// skipped.
    public static let isAvailable = chosenFolder != nil || FileManager.default.fileExists(atPath: folder.path)

    /// The reason of a skipped suite.
    public static let missing = "the public test vectors aren't here: scripts/vectors fetches them"

    /// The decoded file at `path` in `folder`.
    public static func load<Content: Decodable>(_ path: String, as type: Content.Type) throws -> Content {
        try decode(folder.appendingPathComponent(path), as: type)
    }

    /// The decoded file at `path` in Conformance/vectors.
    public static func loadOwn<Content: Decodable>(_ path: String, as type: Content.Type) throws -> Content {
        try decode(own(path), as: type)
    }

    /// The file at `path` in Conformance/vectors.
    public static func own(_ path: String) -> URL {
        packageRoot.appendingPathComponent("Conformance/vectors").appendingPathComponent(path)
    }

    private static func decode<Content: Decodable>(_ file: URL, as type: Content.Type) throws -> Content {
        try JSONDecoder().decode(type, from: Data(contentsOf: file))
    }

    /// Two folders above Tests/Support.
    private static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
