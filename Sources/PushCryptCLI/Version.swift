import PushCryptCore
import PushCryptOpenSSL
import PushCryptSQLite

/// What `--version` prints: one line for each fact, with its name first.
enum Version {
    /// The version of the tool and of the libraries. docs/versioning.md says what it promises.
    static let number = "0.1.0"

    static var text: String {
        var lines = ["pushcrypt \(number)", "commit \(Build.commit ?? "unknown: a development build")"]
        if let swift = Build.swift { lines.append("Swift \(swift)") }
        lines.append("OpenSSL \(OpenSSLLibrary.version), \(origin(isBuiltIn: OpenSSLLibrary.isBuiltIn))")
        lines.append("suites \(suites)")
        lines.append("SQLite \(SQLiteLibrary.version), \(origin(isBuiltIn: SQLiteLibrary.isBuiltIn))")
        return lines.joined(separator: "\n")
    }

    /// `1, 2, 4 (3, xwing, needs OpenSSL 3.5)`
    private static var suites: String {
        let available = Suite.allCases.filter(\.isAvailable).map { "\($0.rawValue)" }.joined(separator: ", ")
        return available + (Suite.xWing.isAvailable ? "" : " (3, xwing, needs OpenSSL 3.5)")
    }

    private static func origin(isBuiltIn: Bool) -> String { isBuiltIn ? "built in" : "the system's" }
}
