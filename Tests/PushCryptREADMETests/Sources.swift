import Foundation

/// The names that the source text of the package declares.
enum Sources {
    /// The targets of `Sources`, which are its folders.
    static let folders = names(in: "Sources")

    /// All targets, including tests.
    static let targets = Set(
        folders + names(in: "Tests") + names(in: "Benchmarks/Sources") + ["PushCryptInteropTests"])

    /// The types that `Sources` and `Tests` declare.
    static let declared: Set<String> = {
        let keywords = #/\b(?:struct|class|enum|actor|protocol|typealias) ([A-Z][A-Za-z0-9]*)/#
        return Set(texts(in: "Sources").values.joined().matches(of: keywords).map { String($0.1) })
            .union(texts(in: "Tests").values.joined().matches(of: keywords).map { String($0.1) })
    }()

    /// The targets with lines that are marked `unsafe`, and PushCryptOpenSSL, which needs no marks.
    static let unsafeFolders: [String] = {
        let marked = texts(in: "Sources").filter { path, text in
            text.components(separatedBy: "\n").contains { line in
                !line.drop { $0 == " " }.hasPrefix("//") && line.contains(#/\bunsafe [A-Za-z(&]/#)
            }
        }
        return Array(Set(marked.keys.map { $0.components(separatedBy: "/")[1] } + ["PushCryptOpenSSL"]))
    }()

    /// The source text of the tests.
    static let tests = Array(texts(in: "Tests").values)

    private static func names(in folder: String) -> [String] {
        let path = Documents.packageRoot.appendingPathComponent(folder).path
        return ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { !$0.hasPrefix(".") }
    }

    /// Swift files below the folder, by their paths in the package.
    static func texts(in folder: String) -> [String: String] {
        let root = Documents.packageRoot.appendingPathComponent(folder)
        let paths = (FileManager.default.enumerator(atPath: root.path)?.allObjects ?? []).compactMap { $0 as? String }
        return Dictionary(
            uniqueKeysWithValues: paths.filter { $0.hasSuffix(".swift") }.map { path in
                (
                    folder + "/" + path,
                    (try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)) ?? ""
                )
            })
    }
}
