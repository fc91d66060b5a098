import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// Imports files of random lines with few names, and compares the results with a dictionary.
@Suite("Random imports") struct RandomImportTests {
    @Test("a random import has the same result as a dictionary", arguments: 0..<12 as Range<UInt64>)
    func model(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let pool = try Pool()
        for step in 0..<LongTests.value(14, short: 8) {
            // Every other file has few lines, so that some files have no bad line.
            let lines = pool.lines(Int.random(in: 0...(step % 2 == 0 ? 3 : 12), using: &random), using: &random)
            let place = try Place(lines.map(\.text))
            try expect(place, Model(lines), pool, "seed \(seed), step \(step)")
        }
    }

    private func expect(_ place: Place, _ model: Model, _ pool: Pool, _ comment: Comment) throws {
        guard !model.refusals.isEmpty else {
            let reader = try place.imported().makeReader()
            for (name, device) in pool.names {
                let found = try reader.recipient(kid: device.kid, device: device.id)
                switch model.outcomes[name] {
                case .found(let line): #expect(try pool.device(of: line).opens(found), comment)
                default: #expect(found == nil, comment)
                }
            }
            return
        }
        let error = #expect(throws: RecipientDirectoryError.self, comment) { try place.importLines() }
        #expect(error.map { model.refusals.contains($0.code) } == true, comment)
        #expect(try place.folder.names() == [place.name], comment)
    }
}

/// Lines with few names, so that several lines of a file have the same name. Each name has valid lines and a bad one.
private struct Pool {
    private let keys: [String: Device]
    private let lines: [Model.Line]
    /// A device for each name, to look up its kid.
    let names: [(String, Device)]

    init() throws {
        var (keys, lines, names) = (
            [String: Device](), [Model.Line(text: "?", name: nil, isUsable: false)], [(String, Device)]()
        )
        for number in 0..<6 {
            let phone = number < 3
            let device = phone ? try Device.make(.shared).of("phone") : try Device.make(psk: number == 4)
            names.append(("\(number)", device))
            let rival = try Device.make(.shared).of("phone").changing("kid", to: "\(device.kid)")
            for text in [device.line, device.adding(#""note":\#(number)"#)] {
                keys[text] = device
                lines.append(.init(text: text, name: "\(number)", isUsable: true, key: device.line))
            }
            if phone {
                keys[rival] = try Device(line: rival)
                lines.append(.init(text: rival, name: "\(number)", isUsable: true, key: rival))
            }
            lines.append(.init(text: device.changing("alg", to: "none"), name: "\(number)", isUsable: false))
        }
        (self.keys, self.lines, self.names) = (keys, lines, names)
    }

    func lines(_ count: Int, using random: inout SplitMix64) -> [Model.Line] {
        (0..<count).compactMap { _ in lines.randomElement(using: &random) }
    }

    func device(of line: String) throws -> Device { try #require(keys[line]) }
}

private struct Model {
    struct Line {
        let text: String
        /// nil for a line without a name.
        let name: String?
        let isUsable: Bool
        var key = ""
    }

    enum Outcome: Equatable {
        case missing
        case found(String)
        case collision
        case unusable(Int)
        case skipped
    }

    private let lines: [Line]
    var outcomes: [String: Outcome] = [:]

    init(_ lines: [Line] = []) {
        self.lines = lines
        for (name, lines) in Dictionary(grouping: lines.enumerated(), by: \.element.name) {
            guard let name else {
                outcomes["?"] = .skipped
                continue
            }
            let usable = lines.filter(\.element.isUsable)
            outcomes[name] =
                switch Set(usable.map(\.element.key)).count {
                case 0: .unusable(lines[0].offset + 1)
                case 1: .found(usable[0].element.text)
                default: .collision
                }
        }
    }

    /// The codes with which the import may be refused; empty if everything is imported. Lines without a name, and invalid
    /// lines beside another line of the same name, come first. Then the error is the first by name.
    var refusals: [RecipientDirectoryError.Code] {
        if !lines.isEmpty, lines.allSatisfy({ $0.name == nil }) { return [.notADirectory] }
        let lone = Set(outcomes.keys.filter { name in lines.count { $0.name == name } == 1 })
        let isSkipped = lines.contains { line in !line.isUsable && !lone.contains(line.name ?? "?") }
        if lines.contains(where: { $0.name == nil }) || isSkipped { return [.invalidRecord] }
        let bad = outcomes.values.contains { if case .unusable = $0 { true } else { false } }
        let collides = outcomes.values.contains(.collision)
        return (bad ? [.invalidRecord] : []) + (collides ? [.collision] : [])
    }
}
