import ArgumentParser

/// `--picture FILE`: an SVG, or HTML with the SVG in it, as the name ends.
struct PictureFile: ExpressibleByArgument {
    let path: String
    let isHTML: Bool

    init?(argument: String) {
        let name = argument.lowercased()
        isHTML = name.hasSuffix(".html")
        guard isHTML || name.hasSuffix(".svg") else { return nil }
        path = argument
    }
}

struct PictureOptions: ParsableArguments {
    @Option(
        name: .customLong("picture"),
        help: ArgumentHelp("Draw it too: an SVG, or a page with it, as the name ends.", valueName: "FILE.svg|FILE.html")
    )
    var file: PictureFile?
}
