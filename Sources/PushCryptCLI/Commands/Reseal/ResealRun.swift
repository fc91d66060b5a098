import PushCryptCore
import PushCryptSender

/// Takes stdin line by line to stdout or to the errors file. A line counts when all of it has been written.
struct ResealRun {
    private let resealer: Resealer
    private let reader: LineReader
    private(set) var refused: RefusedLines
    private var changedCount = 0
    private var unchangedCount = 0

    init(_ resealer: Resealer, errorsTo path: String) throws {
        self.resealer = resealer
        reader = try LineReader(limitInBytes: LineReader.queueLimitInBytes)
        refused = try RefusedLines(path)
    }

    /// - Throws: what stdin, stdout or the errors file throws; what any line has, is no error here.
    mutating func takeAllLines() throws {
        while let line = try reader.next() {
            switch line {
            case .complete(let bytes): try take(bytes)
            case .tooLong(let start):
                try refused.addLong(
                    start, number: doneCount + 1, .lineTooLong(limitInBytes: LineReader.queueLimitInBytes),
                    restFrom: reader)
            }
        }
    }

    var words: String {
        "\(changedCount) resealed, \(unchangedCount) unchanged, \(refused.count) in \(refused.path)"
    }

    /// Lines of stdin that are on stdout or in the errors file.
    var doneCount: Int { changedCount + unchangedCount + refused.count }

    private mutating func take(_ line: [UInt8]) throws {
        let (resealed, isChanged): ([UInt8], Bool)
        do throws(LineRefusal) {
            (resealed, isChanged) = try reseal(line)
        } catch {
            return try refused.add(line, number: doneCount + 1, error)
        }
        try StandardStreams.write(resealed + [UInt8(ascii: "\n")])
        if isChanged { changedCount += 1 } else { unchangedCount += 1 }
    }

    private func reseal(_ line: [UInt8]) throws(LineRefusal) -> (line: [UInt8], isChanged: Bool) {
        let queued = try QueueLine(line)
        do throws(ResealError) {
            let push = try resealer.reseal(Array(queued.payload.rawBytes), device: queued.device)
            guard push.isChanged else { return (line, false) }
            var resealed = [UInt8]()
            queued.append(to: &resealed) { $0 == .payload ? .replace(push.payload) : .keep }
            return (resealed, true)
        } catch {
            throw LineRefusal(error)
        }
    }
}
