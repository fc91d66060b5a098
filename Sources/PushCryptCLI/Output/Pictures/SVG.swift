/// Writes SVG elements inside HTML. All attribute values are escaped; children are markup.
enum SVG {
    static func element(
        _ name: String, _ attributes: KeyValuePairs<String, String>, _ children: [String] = []
    ) -> String {
        children.isEmpty ? HTML.void(name, attributes) : HTML.element(name, attributes, children)
    }
}
