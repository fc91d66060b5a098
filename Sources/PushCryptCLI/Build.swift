/// What is known of a build by `scripts/package`, which writes this file in the copy of the sources that it compiles. A plain
/// `swift build` knows neither, so that it never shows a commit from which it wasn't built.
enum Build {
    static let commit: String? = nil
    static let swift: String? = nil
}
