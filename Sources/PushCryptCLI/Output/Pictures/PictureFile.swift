/// The file of `--picture`: a page in HTML.
struct PictureFile {
    enum Format { case html }

    let path: String
    let format = Format.html

    init?(argument: String) {
        guard argument.lowercased().hasSuffix(".html") else { return nil }
        path = argument
    }
}
