import Foundation
import Testing

@testable import pushcrypt

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("--picture", .ownThreads)
struct PictureTests {
    static let rehearse = [
        "keys", "rehearse", "Keys/app", "--refresh-p50", "6h", "--refresh-p99", "20d", "--devices", "500",
    ]
    static let coverage = ["keys", "coverage", "Keys/app", "--reports", "reports.jsonl"]

    private let place: Workplace
    private let kid: String

    init() throws {
        place = try Workplace()
        kid = try place.create("Keys/app", "shared")
        let line = #"{"device":"a","kid":"\#(kid)","seenAt":"2026-03-01T09:00:00Z"}"#
        try place.write(Data(line.utf8), to: "reports.jsonl")
    }

    @Test("--picture writes a well-formed SVG without scripts and external resources", arguments: [rehearse, coverage])
    func svg(_ command: [String]) throws {
        let output = try place.run(command + ["--picture", "out.svg"])
        #expect(output.isSuccess && !output.text.isEmpty, "\(output)")
        let names = try XMLNames(try place.read("out.svg"))
        #expect(names.elements.first == "svg")
        #expect(Set(names.elements).isSubset(of: Self.allowedElements), "\(Set(names.elements))")
        #expect(names.attributes.allSatisfy { !$0.hasPrefix("on") && !$0.contains("href") })
        let text = String(decoding: try place.read("out.svg"), as: UTF8.self)
        #expect(text.contains("@media (prefers-color-scheme: dark)"))
        #expect(!text.contains("NaN") && !text.contains("inf\"") && !text.contains("url("))
        #expect(text.components(separatedBy: "http").count == 2, "only the namespace")
        #expect(try place.names() == ["Keys", "out.svg", "reports.jsonl"])
    }

    static let allowedElements: Set = [
        "svg", "title", "desc", "style", "rect", "text", "line", "polyline", "polygon", "circle",
    ]

    @Test(
        "--picture writes an HTML page for a name that ends with .html", arguments: [rehearse, coverage],
        ["out.html", "OUT.HTML"])
    func html(_ command: [String], _ name: String) throws {
        #expect(try place.run(command + ["--picture", name]).isSuccess)
        let text = String(decoding: try place.read(name), as: UTF8.self)
        #expect(text.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\">"))
        #expect(text.contains("<svg ") && text.contains("</svg>\n</main>\n</body>"))
        #expect(!text.contains("<script"))
    }

    @Test(
        "extreme policies and fleets give a well-formed picture",
        arguments: [
            ["--rotate-every", "2s", "--publish-lead", "1s"], ["--rotate-every", "1h", "--publish-lead", "0s"],
            ["--rotate-every", "36500d", "--publish-lead", "36499d"], ["--devices", "1"],
            ["--offline", "0", "--refresh-p50", "1s", "--refresh-p99", "2s"],
            ["--offline", "90%", "--refresh-p50", "1000d", "--refresh-p99", "36525d"],
            ["--keep", "100"], ["--require-coverage", "100%"], ["--pushes-per-day", "0.001"],
        ])
    func extremes(_ options: [String]) throws {
        var usual = Self.rehearse
        for name in options where name.hasPrefix("--") {
            if let index = usual.firstIndex(of: name) { usual.removeSubrange(index...(index + 1)) }
        }
        let output = try place.run(usual + options + ["--picture", "out.svg"])
        #expect(output.isSuccess, "\(output)")
        let text = String(decoding: try place.read("out.svg"), as: UTF8.self)
        #expect(try XMLNames(Data(text.utf8)).elements.contains("polyline"))
        #expect(!text.contains("nan") && text.utf8.count < 400_000)
    }

    @Test("markup in a keyset's name is escaped in the picture")
    func escaping() throws {
        let name = "Keys/a&b<script>\"'"
        try place.create("Keys/a", "shared")
        try place.move("Keys/a.keyset", to: name + ".keyset")
        var command = Self.rehearse
        command[2] = name
        #expect(try place.run(command + ["--picture", "out.svg"]).isSuccess)
        let text = String(decoding: try place.read("out.svg"), as: UTF8.self)
        #expect(text.contains("Keys/a&amp;b&lt;script&gt;"))
        #expect(!text.contains("<script"))
        #expect(try !XMLNames(Data(text.utf8)).elements.isEmpty)
    }

    @Test("markup before a combining accent is escaped in the picture")
    func combiningAccent() throws {
        let name = "Keys/a<\u{301}b\"\u{301}&\u{301}"
        try place.create("Keys/a", "shared")
        try place.move("Keys/a.keyset", to: name + ".keyset")
        var command = Self.rehearse
        command[2] = name
        #expect(try place.run(command + ["--picture", "out.svg"]).isSuccess)
        let picture = try place.read("out.svg")
        let isEscaped = picture.range(of: Data("Keys/a&lt;\u{301}b&quot;\u{301}&amp;\u{301}".utf8)) != nil
        #expect(isEscaped)
        #expect(try !XMLNames(picture).elements.isEmpty)
    }

    @Test(
        "--picture replaces an older file, and writes nothing if it fails",
        arguments: [rehearse, coverage])
    func replacing(_ command: [String]) throws {
        try place.write(Data("old".utf8), to: "out.svg")
        #expect(try place.run(command + ["--picture", "out.svg"]).isSuccess)
        #expect(try place.read("out.svg").count > 1_000)
        expectRefusal(try place.run(command + ["--picture", "none/out.svg"]), 73, saying: "none/out.svg")
        try place.makeFolder("taken.svg")
        let taken = try place.run(command + ["--picture", "taken.svg"])
        #expect(taken.exit != 0 && taken.hasOneLineOnStderr && taken.stdout.isEmpty, "\(taken)")
        #expect(try place.names() == ["Keys", "out.svg", "reports.jsonl", "taken.svg"])
    }

    @Test("lines and areas have a contrast of at least 3:1 with the ground, and texts of 4.5:1, in light and dark")
    func contrast() {
        let parts = PictureStyle.css.components(separatedBy: "@media")
        for (css, ground) in [(parts[0], "#ffffff"), (parts[1], "#0d1117")] {
            let rules = css.matches(of: /\.([a-z-]+) \{ (?:fill|stroke): (#[0-9a-f]{6}); \}/).map {
                (String($0.1), String($0.2))
            }
            #expect(rules.count > 20)
            let texts: Set = ["text", "title", "heading", "muted", "good", "lost"]
            // The ground and what is cut out of bars in its colour, the outline of texts, and lines that only guide the eye.
            let isGround: Set = ["ground", "cut", "on-state", "grid"]
            for (name, colour) in rules where !isGround.contains(name) && colour != ground {
                let least = texts.contains(name) ? 4.5 : 3
                #expect(Self.contrast(colour, ground) >= least, "\(name): \(colour) on \(ground)")
            }
        }
    }

    /// The contrast ratio of WCAG 2.2.
    private static func contrast(_ first: String, _ second: String) -> Double {
        func linear(_ channel: Int) -> Double {
            let share = Double(channel) / 255
            return share <= 0.04045 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
        }
        func luminance(_ colour: String) -> Double {
            let number = Int(colour.dropFirst(), radix: 16) ?? 0
            let (red, green, blue) = (linear(number >> 16), linear((number >> 8) & 255), linear(number & 255))
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue
        }
        let values = [luminance(first), luminance(second)].sorted()
        return (values[1] + 0.05) / (values[0] + 0.05)
    }

    @Test("every state has a colour for light and dark mode")
    func colours() throws {
        #expect(try place.run(Self.coverage + ["--picture", "out.svg"]).isSuccess)
        let text = String(decoding: try place.read("out.svg"), as: UTF8.self)
        for state in ["pending", "primary", "retiring", "expired", "revoked", "destroyed"] {
            #expect(text.components(separatedBy: "\n.\(state) { fill: #").count == 3, "\(state)")
        }
    }
}

/// The names in an XML text, by Foundation's parser; throws for a text that isn't well-formed.
private final class XMLNames: NSObject, XMLParserDelegate {
    private(set) var elements = [String]()
    private(set) var attributes = Set<String>()

    init(_ data: Data) throws {
        super.init()
        let parser = XMLParser(data: data)
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.coderReadCorrupt) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements.append(name)
        self.attributes.formUnion(attributes.keys)
    }
}
