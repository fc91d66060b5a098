import ArgumentParser
import PushCryptCore
import PushCryptFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A complete SVG picture without scripts and external resources. It follows the reader's light or dark mode.
struct Picture {
    let title: String
    let description: String
    let width: Double
    let height: Double
    let parts: [String]

    /// The end of a long name, which fits into the title's line.
    static func shortened(_ name: String) -> String {
        let end = String(String(name.reversed()).prefix(columns: 60).reversed())
        return end.count < name.count ? "…" + end : name
    }

    func write(to file: PictureFile) throws {
        let bytes =
            switch file.format {
            case .svg: Array(svg.utf8)
            case .html: Array(html.utf8)
            case .png: try PNG.bytes(of: svg, for: file.path)
            }
        try FileSystem.replace(file.path, with: bytes, mode: 0o644)
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
        main { overflow-x: auto; }
        svg { display: block; max-width: \(SVG.number(width))px; min-width: 840px; width: 100%; height: auto; margin: auto; }
        @media (max-width: 600px) { body { margin: 8px; } }
        @media (prefers-color-scheme: dark) { body { background: #0d1117; } }
        </style>
        </head>
        <body>
        <main tabindex="0" aria-label="The picture; it can be wider than the screen">
        \(graphic)
        </main>
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
        .on-stripes { stroke-width: 6px; font-weight: 600; }
        .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
        .dashed { stroke-dasharray: 5 4; }
        .dotted { stroke-dasharray: 2 3; }
        .cut { fill: none; }
        .pending-cut { stroke-dasharray: 3 2; }
        .retiring-cut { stroke-dasharray: 2 4; }
        .revoked-cut { stroke-dasharray: 3 3; }
        .late { fill-opacity: 0.55; }
        .unseen { fill-opacity: 0.12; stroke-width: 1.5; }
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
        ("late", "#8250df", "#d2a8ff"), ("unseen", "#59636e", "#9198a1"),
    ]

    private static let strokes: [Colour] = [
        ("axis", "#818b98", "#656c76"), ("grid", "#d1d9e0", "#2a313c"), ("marker", "#59636e", "#9198a1"),
        ("now", "#1f2328", "#e6edf3"), ("label", "#ffffff", "#0d1117"), ("cut", "#ffffff", "#0d1117"),
        ("unseen", "#59636e", "#9198a1"),
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

/// The file of `--picture`. Its extension selects SVG, HTML with the SVG in it, or PNG.
struct PictureFile: ExpressibleByArgument {
    enum Format: String, CaseIterable { case svg, html, png }

    let path: String
    let format: Format

    init?(argument: String) {
        let name = argument.lowercased()
        guard let format = Format.allCases.first(where: { name.hasSuffix("." + $0.rawValue) }) else { return nil }
        (path, self.format) = (argument, format)
    }
}

/// Draws an SVG picture in pixels with rsvg-convert of librsvg, in its light colours, with two pixels for each unit.
private enum PNG {
    private static let program = "rsvg-convert"
    private static let timeLimitInSeconds = 60

    static func bytes(of svg: String, for path: String) throws -> [UInt8] {
        let manager = FileManager.default
        let folder = manager.temporaryDirectory.appendingPathComponent("pushcrypt." + UUID().uuidString).path
        let (source, target) = (folder + "/picture.svg", folder + "/picture.png")
        guard
            let converter = HelperProcess.Program(
                named: program, arguments: ["--zoom=2", "--output=" + target, source])
        else {
            throw Failure(
                .unavailable,
                "\(path) can't be drawn without \(program), which is in Debian's package librsvg2-bin; a name that ends with .svg "
                    + "or .html needs no program")
        }
        try manager.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? manager.removeItem(atPath: folder) }
        try FileSystem.replace(source, with: Array(svg.utf8))
        do {
            try HelperProcess.run(
                converter, seconds: timeLimitInSeconds, mayAsk: false, now: { ContinuousClock.now })
        } catch {
            throw Failure(.unavailable, "\(path) can't be drawn: \(program): \(error.reason)")
        }
        return try FileSystem.readFile(target, limitInBytes: 64 << 20)
    }
}

struct PictureOptions: ParsableArguments {
    @Option(
        name: .customLong("picture"),
        help: .init(
            "Also draw a picture: SVG, HTML, or PNG with rsvg-convert, by the file's extension.",
            "FILE.svg|FILE.html|FILE.png"))
    var file: PictureFile?
}

/// How pictures and the terminal show a key state: pending blue, primary green, retiring amber, expired and destroyed grey,
/// revoked red. The textures tell them apart without colours.
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
        StateStyle(state: .destroyed, light: "#818b98", dark: "#6e7681", terminal: "2;37", mark: "†"),
    ]
}

extension KeyState {
    var style: StateStyle { StateStyle.all[rank] }
}

/// A bar for a period in a state, in the texture of the state: full and high while the key seals, in stripes while it waits or only
/// opens, and low when it does neither.
enum StateBar {
    static let height = 20.0
    private static let lowHeight = 4.0

    /// - Parameters:
    ///   - top: of a high bar; a low one is in its middle.
    ///   - isFaint: in the grey of destroyed keys.
    static func parts(
        _ state: KeyState, from start: Double, to end: Double, top: Double, title: String? = nil, isFaint: Bool = false
    ) -> [String] {
        let height = state.opens ? height : lowHeight
        let frame = Frame(left: start, top: top + (Self.height - height) / 2, width: end - start, height: height)
        let bar = SVG.rectangle(frame, isFaint ? "\(KeyState.destroyed)" : "\(state)", radius: 2, title: title)
        guard [.pending, .retiring, .revoked].contains(state) else { return [bar] }
        let middle = top + Self.height / 2
        // The ends stay, so that a short bar is seen.
        let inset = min(2, frame.width / 4)
        return [
            bar,
            SVG.element(
                "line",
                [
                    "x1": SVG.number(start + inset), "y1": SVG.number(middle), "x2": SVG.number(end - inset),
                    "y2": SVG.number(middle), "class": "cut \(state)-cut",
                    "stroke-width": SVG.number(max(height - 3, lowHeight)),
                ]),
        ]
    }

    /// A name in a bar that is long enough; texts on stripes have an outline.
    static func label(_ state: KeyState, from start: Double, to end: Double, top: Double) -> [String] {
        guard state.opens, end - start > 60 else { return [] }
        return [SVG.text("\(state)", at: (start + 7, top + 14), state == .primary ? "on-state" : "label on-stripes")]
    }
}
