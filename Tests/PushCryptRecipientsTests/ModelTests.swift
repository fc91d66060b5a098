import Foundation
import PushCryptCore
import PushCryptRecipients
import PushCryptTestSupport
import Testing

/// A directory that grows, is rewritten and replaced, against a dictionary.
@Suite("directories at random")
struct ModelTests {
    @Test("say what a dictionary says", arguments: 0..<12 as Range<UInt64>)
    func model(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let pool = try Pool()
        var model = Model()
        let place = try Place([])
        for step in 0..<14 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                model = Model(pool.lines(Int.random(in: 0...30, using: &random), using: &random))
                try place.replace(model.lines.map(\.text))
            case 1:
                model = Model(model.lines.shuffled(using: &random))
                try place.write(model.lines.map(\.text))
            case 2:
                model = Model(model.lines.dropLast(Int.random(in: 0...3, using: &random)))
                try place.write(model.lines.map(\.text))
            default:
                let lines = pool.lines(Int.random(in: 0...12, using: &random), using: &random)
                model = Model(model.lines + lines)
                try place.append(lines.map { $0.text + "\n" }.joined())
            }
            try expect(place, model, pool, "seed \(seed), step \(step)")
        }
    }

    private func expect(_ place: Place, _ model: Model, _ pool: Pool, _ comment: Comment) throws {
        let usable = model.outcomes.values.contains { $0 != .skipped }
        guard usable || model.lines.isEmpty else {
            _ = #expect(throws: RecipientDirectoryError.self, comment) { try place.open() }
            return
        }
        let directory = try place.open()
        let reader = try directory.makeReader()
        for (name, device) in pool.names {
            let outcome = model.outcomes[name] ?? .missing
            let found = Result { try reader.recipient(kid: device.kid, device: device.id) }
            switch (outcome, found) {
            case (.found(let line), .success(let recipient?)):
                #expect(try pool.device(of: line).opens(recipient), comment)
            case (.missing, .success(nil)): break
            case (.collision, .failure(let error as RecipientDirectoryError)):
                #expect(error.code == .collision, comment)
            case (.unusable(let number), .failure(let error as RecipientDirectoryError)):
                #expect(error.code == .invalidRecord && error.lineNumber == number, comment)
            default: Issue.record("\(comment): \(outcome), but \(found)")
            }
        }
        #expect(directory.index?.lineCount == model.lines.count, comment)
        #expect(directory.index?.collisionCount == model.outcomes.values.count { $0 == .collision }, comment)
    }
}

/// Few names, so that lines meet, each with two keys and a bad line.
private struct Pool {
    private let keys: [String: Device]
    private let lines: [Model.Line]
    /// A device for each name, to ask by.
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
        /// nil for one that none can be asked by.
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

    let lines: [Line]
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
}
