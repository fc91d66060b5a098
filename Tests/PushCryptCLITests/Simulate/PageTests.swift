import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("simulate --picture", .ownThreads) struct PageTests {
    private let phone: SimulatedPhone
    private var place: Workplace { phone.place }

    init() throws { phone = try SimulatedPhone() }

    private func simulate(_ pushes: [Data], _ options: [String] = [], to file: String = "page.html") throws -> Output {
        try phone.run(SimulatedPhone.lines(pushes), ["--picture", file] + options)
    }

    /// The page of payloads that are sealed to the phone.
    private func page(of payloads: [Any], _ options: String...) throws -> Markup {
        let pushes = try payloads.map { payload in
            try place.sealed(to: "phone", payload: JSONSerialization.data(withJSONObject: payload))
        }
        let output = try simulate(pushes, options)
        try #require(output.isSuccess, "\(output)")
        return try Markup.root(of: place.read("page.html"))
    }

    private static func push(_ title: String, _ more: [String: Any] = [:], thread: String? = nil) -> [String: Any] {
        var aps: [String: Any] = ["alert": more.merging(["title": title]) { $1 }]
        aps["thread-id"] = thread
        return ["aps": aps]
    }

    /// What the phone with the extension shows.
    private static func screen(_ page: Markup) throws -> Markup {
        try #require(page.styled("device").last)
    }

    private static func texts(_ markup: Markup, _ style: String) -> [String] { markup.styled(style).map(\.text) }

    @Test("a push with all texts is shown with app, time, title, subtitle, body and the mark of a time-sensitive one")
    func banner() throws {
        let payload: [String: Any] = [
            "aps": [
                "alert": ["title": "Dr. Osei", "subtitle": "Radiology", "body": "All clear."],
                "interruption-level": "time-sensitive",
            ]
        ]
        let page = try page(of: [payload])
        let devices = page.styled("device")
        #expect(devices.count == 2 && Self.texts(devices[0], "title") == ["New message"])
        let screen = try Self.screen(page)
        for (style, text) in [
            ("clock", "09:00"), ("date", "Sunday, 1 March"), ("app", "app"), ("time", "now"), ("title", "Dr. Osei"),
            ("subtitle", "Radiology"), ("body", "All clear."), ("sensitive", "Time Sensitive"), ("icon", "A"),
        ] { #expect(Self.texts(screen, style) == [text]) }
        #expect(Self.texts(devices[0], "sensitive").isEmpty)
        #expect(page.named("title").map(\.text).first == "app on the lock screen")
    }

    static let hostileTexts = [
        "</script></style></title><script>attack()</script>", "<img src=x onerror=attack()>",
        "\"' onload='attack()' x=\"",
        "\u{202e}evil\u{2069}\u{2069}\u{202e}", "a\u{0}b\u{1b}[31mc\u{9b}d", "&lt;b&gt;&#60;&amp;",
        "<\u{301}script>\"\u{301}>",
        "]]><!--", String(repeating: "W", count: 500),
    ]

    @Test(
        "markup, quotes, control and formatting characters in texts add no element and no attribute",
        arguments: hostileTexts
    )
    func hostile(_ text: String) throws {
        func page(_ text: String) throws -> Markup {
            try self.page(
                of: [Self.push(text, ["subtitle": text, "body": text], thread: text)])
        }
        let (attacked, harmless) = (try page(text), try page("harmless"))
        #expect(attacked.all.map(\.name) == harmless.all.map(\.name))
        #expect(attacked.all.map { $0.attributes.keys.sorted() } == harmless.all.map { $0.attributes.keys.sorted() })
        let shown = try Self.screen(attacked)
        let expected = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{fffd}" : $0 }))
        for style in ["title", "subtitle", "body"] {
            #expect(Self.texts(shown, style).map { Array($0.utf8) } == [Array(expected.utf8)])
        }
        let sent = try #require(attacked.styled("json").first?.text)
        #expect(!sent.unicodeScalars.contains { $0.properties.isBidiControl || $0 == "\0" })
        let alert = try #require(try Payload.member("aps.alert", of: Data(sent.utf8)) as? [String: String])
        #expect(alert["title"].map { Array($0.utf8) } == Array(text.utf8))
    }

    @Test("the policy allows only the style of the page, and the page has no script and names no address")
    func contentSecurityPolicy() throws {
        let root = try page(of: [Self.push("Hi")])
        let page = String(decoding: try place.read("page.html"), as: UTF8.self)
        func source(_ tag: String) throws -> String {
            let block = try #require(page.components(separatedBy: "<\(tag)>").last?.components(separatedBy: "</").first)
            // On Linux the tool uses the other library.
            let bytes = Array(block.utf8)
            let digest = try Backends.cryptoKit.backend.sha256(bytes.bytes)
            return "'sha256-\(Data(digest).base64EncodedString())'"
        }
        let style = try source("style")
        let policy = try #require(
            root.named("meta").first { $0.attributes["http-equiv"] == "Content-Security-Policy" }?.attributes["content"]
        )
        #expect(
            policy == "default-src 'none'; img-src data:; style-src \(style); base-uri 'none'; form-action 'none'")
        #expect(root.named("script").isEmpty)
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("url("))
        #expect(!root.all.contains { $0.attributes.keys.contains { $0 == "style" || $0.hasPrefix("on") } })
    }

    /// The figures of the page's table.
    private static func budget(in page: Markup) -> [String: Int] {
        let rows = page.named("tr").filter { !$0.named("td").isEmpty }
        return Dictionary(
            uniqueKeysWithValues: rows.map { row in
                (row.named("th")[0].text, Int(row.styled("count")[0].text.replacing(",", with: "")) ?? -1)
            })
    }

    private func inspected(_ sealed: Data) throws -> [String: Int] {
        let output = try place.run(
            "inspect", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now, stdin: sealed)
        return try #require(try output.object()["bytes"] as? [String: Int])
    }

    @Test("invisible characters of the JSON are escaped, and the joiners of emoji and scripts aren't")
    func invisibleJSON() throws {
        let json = #"{"aps":{"alert":"👩‍🚀"},"a\u200bps":"soft\u00adhyphen\u202e","x":"\udb40\udc41"}"#
        let sealed = try place.sealed(to: "phone", payload: Data(json.utf8))
        try #require(try simulate([sealed]).isSuccess)
        let view = try Markup.root(of: place.read("page.html")).named("section")[1]
        for text in [#""a\u200bps""#, #""soft\u00adhyphen\u202e""#, #""\udb40\udc41""#, #""👩‍🚀""#] {
            #expect(view.text.contains(text), "\(text)")
        }
    }

    @Test(
        "the budget's figures are those of inspect, add up to the size of the payload, and with the free part to 4096")
    func budget() throws {
        let sealed = try place.sealed(to: "phone")
        try #require(try simulate([sealed]).isSuccess)
        let page = try Markup.root(of: place.read("page.html"))
        let (figures, bytes) = (Self.budget(in: page), try inspected(sealed))
        #expect(Set(figures.keys) == ["placeholder", "envelope", "ciphertext", "padding", "free"])
        #expect(figures.allSatisfy { bytes[$0.key] == $0.value }, "\(figures) \(bytes)")
        #expect(figures.values.reduce(0, +) == 4_096)
        #expect(4_096 - (figures["free"] ?? 0) == sealed.count - 1)
        let widths = page.named("rect").map { Int($0.attributes["width"] ?? "") ?? -1 }
        #expect(widths.sorted() == figures.values.sorted())
        #expect(page.styled("budget").first?.named("figcaption").first?.text == "\(sealed.count - 1) of 4,096 bytes")
    }

    @Test(
        "the JSON of the views is the payload that was sent and the one on the wire, in which the sealed part is marked"
    )
    func json() throws {
        let sealed = try place.sealed(to: "phone")
        try #require(try simulate([sealed]).isSuccess)
        let views = try Markup.root(of: place.read("page.html")).named("section")
        let shown = try views.dropFirst().map { view in
            try JSONSerialization.jsonObject(with: Data(#require(view.styled("json").first).text.utf8)) as? NSDictionary
        }
        let expected = try [Workplace.inner, sealed].map { try JSONSerialization.jsonObject(with: $0) as? NSDictionary }
        #expect(shown == expected && views.count == 3)
        let marked = try Payload.string("pushcrypt.sealed", of: sealed).map { "\"\($0)\"" }
        #expect(Self.texts(views[2], "sealed") == [marked] && views[1].styled("sealed").isEmpty)
        #expect(!views[2].text.contains("All clear.") && views[1].text.contains("All clear."))
    }

    @Test("notifications of one thread are a stack: the latest is shown, and the others open under it")
    func groups() throws {
        let pushes = [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4")].map { Self.push($1, thread: $0) }
        let screen = try Self.screen(page(of: pushes))
        #expect(Self.texts(screen, "title") == ["4", "3", "1", "2"])
        let stack = try #require(screen.styled("stack").first)
        #expect(Self.texts(stack, "closed") == ["2 more"] && Self.texts(stack, "others").count == 1)
        #expect(Self.texts(try #require(stack.named("details").first), "title") == ["3", "1"])
    }

    private static let png: [UInt8] = [
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0xff,
    ]
    private static let wav = Array("RIFF\u{8}\0\0\0WAVEfmt \0\0\0\0".utf8)

    @Test(
        "a picture is in the page itself, and another attachment is named with its size",
        arguments: [("p.png", png, true), ("p.wav", wav, false)])
    func attachment(_ name: String, bytes: [UInt8], isPicture: Bool) throws {
        try place.write(Data(bytes), to: name)
        var payload = Self.push("Results")
        payload["file_url"] = "https://example.com/\(name)"
        let screen = try Self.screen(
            page(
                of: [payload, Self.push("Second", thread: "b")], "--attachment-member", "file_url", "--serve",
                "https://example.com/\(name)=\(name)"))
        let address = "data:image/png;base64," + Data(bytes).base64EncodedString()
        #expect(screen.named("img").map { $0.attributes["src"] } == (isPicture ? [address] : []))
        #expect(Self.texts(screen, "file") == (isPicture ? [] : ["wav, \(bytes.count) bytes"]))
        #expect(screen.named("img").allSatisfy { $0.attributes["alt"]?.isEmpty == false })
    }

    @Test("of a push that isn't opened the page has the class and the placeholder, and not what was sealed")
    func failure() throws {
        try place.create("other", "recipient", "--psk")
        let pushes = try [place.sealed(to: "phone"), place.sealed(to: "other"), Data("nonsense".utf8)]
        let output = try simulate(pushes)
        #expect(output.exit == 65, "\(output)")
        let views = try Markup.root(of: place.read("page.html")).named("section")
        let verdicts = Self.texts(views[0], "verdict")
        #expect(verdicts.count == 3 && verdicts[0] == "✓ restored")
        #expect(verdicts[1].hasPrefix("✗ unknownKey: the placeholder") && verdicts[2].hasPrefix("✗ refused by APNs"))
        let unknown = Self.texts(views[1], "unknown")
        #expect(unknown.count == 2 && unknown[0].contains("didn't restore it") && unknown[1].contains("wasn't sealed"))
        #expect(Self.texts(views[2], "unknown") == ["8 bytes that aren't JSON."])
        #expect(Self.texts(try #require(views[0].styled("device").last), "title") == ["New message", "Results"])
        #expect(views.map { $0.styled("card").count } == [0, 3, 3])
    }

    @Test("the page replaces an older file, only its owner can read it, and the output is as without --picture")
    func file() throws {
        let sealed = try place.sealed(to: "phone")
        try place.write(Data("old".utf8), to: "page.html", mode: 0o644)
        let output = try simulate([sealed])
        #expect(output.isSuccess && output.text.contains("✓ restored") && !output.text.contains("html"))
        #expect(try place.mode(of: "page.html") == 0o600 && place.read("page.html").starts(with: Data("<!DOC".utf8)))
        #expect(try place.names() == ["page.html", "phone.keyset"])
        let other = try simulate([sealed], ["--json"], to: "OTHER.HTML")
        #expect(try other.isSuccess && other.object()["restored"] as? Bool == true && place.has("OTHER.HTML"))
    }

    @Test("a path that can't be written is refused before the first push, and an input without pushes writes no page")
    func refused() throws {
        let sealed = try place.sealed(to: "phone")
        expectRefusal(try simulate([sealed], to: "none/page.html"), 73, saying: "none/page.html")
        try place.makeFolder("taken.html")
        expectRefusal(try simulate([sealed], to: "taken.html"), 73, saying: "taken.html is a folder")
        expectRefusal(try simulate([]), 65, saying: "stdin has no payload")
        expectUsageError(try simulate([sealed], to: "page.svg"))
        #expect(try place.names() == ["phone.keyset", "taken.html"])
    }
}
