import Foundation

#if canImport(FoundationXML)
import FoundationXML
#endif

/// An element of a well-formed page, read by Foundation's parser.
final class Markup {
    let name: String
    let attributes: [String: String]
    private(set) var children: [Markup] = []
    /// The text of this element and of all elements in it.
    private(set) var text = ""

    /// - Throws: for a page that isn't well-formed XML.
    static func root(of page: Data) throws -> Markup {
        let reader = Reader()
        let parser = XMLParser(data: page)
        parser.delegate = reader
        guard parser.parse(), let root = reader.open[0].children.first else {
            throw parser.parserError ?? CocoaError(.coderReadCorrupt)
        }
        return root
    }

    private init(_ name: String, _ attributes: [String: String]) { (self.name, self.attributes) = (name, attributes) }

    /// This element and all in it, in the order of the page.
    var all: [Markup] { [self] + children.flatMap(\.all) }

    /// Those with a style class.
    func styled(_ style: String) -> [Markup] {
        all.filter { $0.attributes["class"]?.split(separator: " ").contains(Substring(style)) == true }
    }

    func named(_ name: String) -> [Markup] { all.filter { $0.name == name } }

    private final class Reader: NSObject, XMLParserDelegate {
        var open = [Markup("", [:])]

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            let element = Markup(name, attributes)
            open.last?.children.append(element)
            open.append(element)
        }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) { open.removeLast() }

        func parser(_ parser: XMLParser, foundCharacters text: String) { for element in open { element.text += text } }
    }
}
