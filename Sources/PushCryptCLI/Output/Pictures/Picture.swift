import ArgumentParser
import PushCryptCore
import PushCryptFiles

/// A complete SVG picture without scripts and external resources. It follows the reader's light or dark mode.
struct Picture {
    let title: String
    let description: String
    let width: Double
    let height: Double
    let parts: [String]

    static func shortened(_ name: String) -> String { name.count > 60 ? "…" + name.suffix(60) : name }

    func write(to file: PictureFile) throws {
        try FileSystem.replace(file.path, with: Array((file.isHTML ? html : svg).utf8), mode: 0o644)
    }

    var svg: String { #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n" + graphic + "\n" }

    private var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <meta name="color-scheme" content="light dark">
        <title>\(SVG.escaped(title))</title>
        <style>
        body { margin: 24px; background: #ffffff; }
        svg { display: block; max-width: \(SVG.number(width))px; width: 100%; height: auto; margin: auto; }
        @media (prefers-color-scheme: dark) { body { background: #0d1117; } }
        </style>
        </head>
        <body>
        \(graphic)
        </body>
        </html>

        """
    }

    private var graphic: String {
        let (width, height) = (SVG.number(width), SVG.number(height))
        let head = [
            SVG.element("title", [:], [SVG.escaped(title)]),
            SVG.element("desc", [:], [SVG.escaped(description)]),
            SVG.element("style", [:], [PictureStyle.css]),
            SVG.element("rect", ["width": width, "height": height, "class": "ground"]),
        ]
        return SVG.element(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height,
                "viewBox": "0 0 \(width) \(height)", "role": "img",
            ], (head + parts).map { "\n" + $0 } + ["\n"])
    }
}

/// The style classes of pictures. The rules have no parent selector: inside HTML they apply to the whole page.
enum PictureStyle {
    static var css: String {
        """

        text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 12px; }
        .title { font-size: 20px; font-weight: 600; }
        .heading { font-size: 14px; font-weight: 600; }
        .verdict { font-size: 14px; font-weight: 600; }
        .label, .on-state { font-size: 11px; }
        .state { font-weight: 600; }
        .mono { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        .label { paint-order: stroke; stroke-width: 3px; stroke-linejoin: round; }
        .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .dashed { stroke-dasharray: 5 4; }
        .axis, .grid, .marker { stroke-width: 1; }
        .marker { stroke-dasharray: 3 3; }
        .band { fill-opacity: 0.14; }
        .now { stroke-width: 1.5; }
        \(rules(isDark: false))
        @media (prefers-color-scheme: dark) {
        \(rules(isDark: true))
        }

        """
    }

    private typealias Colour = (name: String, light: String, dark: String)

    private static let fills: [Colour] = [
        ("ground", "#ffffff", "#0d1117"), ("on-state", "#ffffff", "#0d1117"), ("text", "#1f2328", "#e6edf3"),
        ("title", "#1f2328", "#e6edf3"), ("heading", "#1f2328", "#e6edf3"), ("label", "#1f2328", "#e6edf3"),
        ("muted", "#59636e", "#9198a1"), ("good", "#1a7f37", "#3fb950"), ("lost", "#cf222e", "#ff7b72"),
        ("late", "#8250df", "#d2a8ff"), ("unseen", "#9aa4ae", "#656c76"),
    ]

    private static let strokes: [Colour] = [
        ("axis", "#818b98", "#656c76"), ("grid", "#d1d9e0", "#2a313c"), ("marker", "#59636e", "#9198a1"),
        ("now", "#1f2328", "#e6edf3"), ("label", "#ffffff", "#0d1117"),
    ]

    /// `.name` sets the fill or the stroke, `.state-line` the stroke in the colour of a state.
    private static func rules(isDark: Bool) -> String {
        let rules =
            fills.map { ".\($0.name) { fill: \(isDark ? $0.dark : $0.light); }" }
            + strokes.map { ".\($0.name) { stroke: \(isDark ? $0.dark : $0.light); }" }
            + StateStyle.all.map { style in
                let colour = isDark ? style.dark : style.light
                return ".\(style.state) { fill: \(colour); } .\(style.state)-line { stroke: \(colour); }"
            }
        return rules.joined(separator: "\n")
    }
}

/// The file of `--picture`. Its extension selects SVG or HTML with the SVG in it.
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
        help: .init("Also draw a picture: SVG or HTML, by the file's extension.", "FILE.svg|FILE.html"))
    var file: PictureFile?
}

/// How pictures and the terminal show a key state: pending blue, primary green, retiring amber, expired grey, revoked red,
/// destroyed light grey.
struct StateStyle {
    let state: KeyState
    /// The colour for a white background, such as `#1a7f37`.
    let light: String
    let dark: String
    /// The parameters of the SGR escape sequence.
    let terminal: String
    /// The character for a period in this state.
    var glyph: Character?
    /// The mark of the time at which this state begins.
    var mark: Character?

    static let all = [
        StateStyle(state: .pending, light: "#0969da", dark: "#58a6ff", terminal: "34", glyph: "░"),
        StateStyle(state: .primary, light: "#1a7f37", dark: "#3fb950", terminal: "32", glyph: "█"),
        StateStyle(state: .retiring, light: "#9a6700", dark: "#d29922", terminal: "33", glyph: "▒"),
        StateStyle(state: .expired, light: "#6e7781", dark: "#8b949e", terminal: "90", glyph: "·", mark: "┤"),
        StateStyle(state: .revoked, light: "#cf222e", dark: "#ff7b72", terminal: "31", glyph: "·", mark: "✕"),
        StateStyle(state: .destroyed, light: "#c4ccd4", dark: "#484f58", terminal: "2;37", mark: "†"),
    ]
}

extension KeyState {
    var style: StateStyle { StateStyle.all[rank] }
}
