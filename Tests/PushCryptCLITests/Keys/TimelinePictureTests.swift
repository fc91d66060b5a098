import Foundation
import Testing

@testable import pushcrypt

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("keys list --picture", .ownThreads)
struct TimelinePictureTests {
    @Test("the picture contains no script and no external resource", arguments: ["a.svg", "a.html", "A.SVG"])
    func wellFormed(_ name: String) throws {
        let (place, _) = try makePlace(SampleLifecycles.all)
        let output = try place.run("keys", "list", "Keys/app", "--at", Workplace.now, "--picture", name)
        #expect(output.isSuccess && output.text.contains("NEXT CHANGE"), "\(output)")
        #expect(try place.mode(of: name) == 0o644)
        let text = String(decoding: try place.read(name), as: UTF8.self)
        #expect(name == "a.html" ? text.hasPrefix("<!DOCTYPE html>") : text.hasPrefix("<?xml"))
        #expect(text.contains("prefers-color-scheme: dark"))
        for foreign in ["<script", "javascript:", "href", "src=", "url(", "@import"] {
            #expect(!text.contains(foreign), "\(foreign)")
        }
        #expect(text.firstMatch(of: /[ ]on[a-z]+=/) == nil)
        let drawing = try Drawing(text)
        #expect(drawing.names.isSuperset(of: ["svg", "title", "desc", "style", "rect", "line", "text"]))
    }

    @Test("the picture has a row for each key with a bar for each phase in its state's colour")
    func bars() throws {
        let (place, kids) = try makePlace(SampleLifecycles.all)
        let drawing = try place.drawing()
        let lived = [
            ["primary", "retiring", "expired"], ["pending", "primary", "retiring", "expired"],
            ["pending", "primary", "retiring", "expired"], ["pending", "revoked"],
            ["pending", "primary", "retiring", "expired"], ["pending", "primary"],
        ]
        for ((kid, state), phases) in zip(zip(kids, SampleLifecycles.states), lived) {
            #expect(drawing.texts.contains(kid) && drawing.texts.contains(state))
            let bars = drawing.bars.filter { $0.title.hasPrefix("key \(kid) is ") }.sorted { $0.left < $1.left }
            #expect(bars.map(\.style) == (state == "destroyed" ? phases.map { _ in "destroyed" } : phases), "\(state)")
            #expect(zip(bars, phases).allSatisfy { $0.title.contains(" is \($1) ") })
            #expect(zip(bars, bars.dropFirst()).allSatisfy { abs($0.left + $0.width - $1.left) < 0.1 })
        }
        #expect(drawing.texts.contains("Keys of Keys/app at \(Workplace.now)"))
        #expect(drawing.texts.contains("now"))
        #expect(drawing.texts.contains("shared keys; policy: rotate every 90d, publish lead 7d, overlap 30d, keep 2"))
    }

    @Test("the picture shows the key that the policy adds next")
    func planned() throws {
        let (place, _) = try makePlace([
            SampleLifecycles.members([("createdAt", "2026-02-01"), ("activatesAt", "2026-02-01")])
        ])
        let drawing = try place.drawing()
        let bars = drawing.bars.filter { $0.title.hasPrefix("by the policy: ") }
        #expect(bars.map(\.style) == ["line dashed pending-line", "line dashed primary-line"])
        #expect(bars[0].title.contains("from 2026-04-25T09:00:00Z to 2026-05-02T09:00:00Z (7d)"))
        #expect(drawing.texts.contains("Next: add a key, 2026-04-25T09:00:00Z (in 55d)"))
    }

    @Test("markup in a keyset's name is drawn as text")
    func markup() throws {
        let (place, _) = try makePlace([SampleLifecycles.primary], path: "Keys/a<b>&\"c")
        let output = try place.run("keys", "list", "Keys/a<b>&\"c", "--picture", "a.svg", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        let drawing = try Drawing(String(decoding: try place.read("a.svg"), as: UTF8.self))
        #expect(drawing.texts.contains("Keys of Keys/a<b>&\"c at \(Workplace.now)"))
    }

    @Test(
        "other names exit 64, and a picture that can't be written 73 or 74; nothing is printed",
        arguments: ["a.gif", "svg", "", "none/a.svg", "folder.svg"])
    func refused(_ name: String) throws {
        let (place, _) = try makePlace([SampleLifecycles.primary])
        try place.makeFolder("folder.svg")
        let output = try place.run("keys", "list", "Keys/app", "--picture", name)
        #expect(name.contains("/") || name == "folder.svg" ? [73, 74].contains(output.exit) : output.exit == 64)
        #expect(output.stdout.isEmpty && !output.stderr.isEmpty, "\(output)")
    }

    @Test("the picture of a keystore has all keysets on one axis, and names those that can't be read") func keystore()
        throws
    {
        let place = try Workplace()
        let kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        let others = try place.writeKeyset("Keys/backend", [SampleLifecycles.primary])
        try place.setMode(0o700, of: "Keys")
        try place.write(Data("{".utf8), to: "Keys/broken.keyset")
        let output = try place.run("keys", "list", "Keys", "--at", Workplace.now, "--picture", "a.svg")
        #expect(output.exit == 65, "\(output)")
        let drawing = try Drawing(String(decoding: try place.read("a.svg"), as: UTF8.self))
        #expect(Set(kids + others).isSubset(of: drawing.texts))
        #expect(drawing.texts.contains("Keysets of Keys at \(Workplace.now)"))
        #expect(drawing.texts.filter { ["Keys/app", "Keys/backend", "Keys/broken.keyset"].contains($0) }.count == 3)
        #expect(drawing.texts.contains { $0.contains("restore Keys/broken.keyset FILE") })
        #expect(drawing.texts.filter { $0 == "now" }.count == 2)
        #expect(drawing.bars.allSatisfy { $0.left >= 0 && $0.left + $0.width <= 960.01 })
        #expect(drawing.bars.allSatisfy { $0.top + $0.height <= drawing.height + 0.01 })
    }

    @Test(
        "with rsvg-convert a picture is a PNG of twice its size",
        .enabled(if: hasConverter, "rsvg-convert isn't installed"))
    func png() throws {
        let (place, _) = try makePlace(SampleLifecycles.all)
        #expect(try place.run("keys", "list", "Keys/app", "--at", Workplace.now, "--picture", "a.png").isSuccess)
        let bytes = [UInt8](try place.read("a.png"))
        #expect(bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]))
        // RFC 2083, 4.1.1: the width is the first member of IHDR.
        #expect(bytes[16..<20].reduce(0) { $0 << 8 | Int($1) } == 1_920)
        #expect(try place.mode(of: "a.png") == 0o644)
    }

    @Test("without rsvg-convert a PNG is refused with the package that has it, and nothing is written")
    func noConverter() throws {
        let (place, _) = try makePlace(SampleLifecycles.all)
        let output = try place.shell(
            #"p=$PUSHCRYPT; PATH=/nowhere; "$p" keys list Keys/app --at \#(Workplace.now) --picture a.png"#)
        expectRefusal(
            output, 69, saying: "a.png can't be drawn without rsvg-convert, which is in Debian's package librsvg2-bin")
        #expect(try !place.names().contains("a.png"))
    }

    private static let hasConverter = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains {
        FileManager.default.isExecutableFile(atPath: $0 + "/rsvg-convert")
    }

    private func makePlace(_ lifecycles: [String], path: String = "Keys/app") throws -> (Workplace, [String]) {
        let place = try Workplace()
        return (place, try place.writeKeyset(path, lifecycles))
    }
}

extension Workplace {
    fileprivate func drawing(at time: String = now) throws -> Drawing {
        try Drawing(TimelinePicture(view("Keys/app", at: time)).picture.svg)
    }
}

/// The elements of a picture, read by an XML parser.
private final class Drawing: NSObject, XMLParserDelegate {
    struct Bar {
        let left: Double
        let top: Double
        let width: Double
        let height: Double
        let style: String
        var title = ""
    }

    private(set) var names = Set<String>()
    private(set) var bars = [Bar]()
    private(set) var texts = [String]()
    private(set) var height = 0.0
    private var path = [String]()
    private var content = ""

    init(_ text: String) throws {
        super.init()
        // HTML has tags that XML wants closed.
        let start = try #require(text.range(of: "<svg")?.lowerBound)
        let end = try #require(text.range(of: "</svg>")?.upperBound)
        let parser = XMLParser(data: Data(text[start..<end].utf8))
        parser.delegate = self
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        names.insert(name)
        path.append(name)
        content = ""
        func number(_ name: String) -> Double { attributes[name].flatMap { Double($0) } ?? 0 }
        if name == "svg" { height = number("height") }
        guard name == "rect", let style = attributes["class"] else { return }
        bars.append(
            Bar(left: number("x"), top: number("y"), width: number("width"), height: number("height"), style: style))
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        content += string
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        path.removeLast()
        if name == "text" { texts.append(content) }
        if name == "title", path.last == "rect" { bars[bars.count - 1].title = content }
    }
}
