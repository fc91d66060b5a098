import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSender

/// The keys of the devices of a shared keyset. Only the keys that open are derived.
struct DeviceExport: Sendable {
    private let keyset: Keyset

    /// - Throws: `Failure` for other than shared keys.
    init(_ keyset: Keyset, at time: UnixTime) throws {
        guard keyset.kind == .shared else {
            throw Failure(
                .usage, "device keys are derived from shared keys only; these are \(keyset.kind.rawValue) keys")
        }
        self.keyset = try keyset.filter { entry in keyset.state(of: entry.record.kid, at: time)?.opens ?? false }
    }

    /// The set of one device, which contains its secrets.
    func set(of device: DeviceID) throws -> [UInt8] { try keyset.device(device).jwkSet(withHistory: false) }

    /// Prints a line for each line of a file of device ids, on all cores.
    ///
    /// ```
    /// {"device": ID, "keyset": SET}
    /// ```
    /// - Throws: `Failure` with `dataError` after the last line if a line isn't a device id.
    func printAll(in file: String) throws {
        guard let interruption = Interruption() else {
            throw Failure(.software, "can't create the pipe that reports signals")
        }
        let blocks = try LineBlocks(of: PieceReader(file), from: 1, interruption)
        let width = BatchOptions.coreCount
        let lanes = (0..<width).map { _ in
            let export = self
            return PipelineLane<LineReader.Block, Lines> { block in Lines(block, export) }
        }
        let pipeline = OrderedPipeline(blocks, capacity: 2 * width + 2, lanes: lanes)
        var (exported, refused) = (0, [Int]())
        while var lines = try pipeline.waitForNext() {
            defer { wipe(&lines.output) }
            if let failure = lines.failure { throw failure }
            try StandardStreams.write(lines.output)
            exported += lines.count
            refused += lines.refused
        }
        let counts = "\(file): exported the keys of \(NumberText.counted(exported, "device"))"
        if let signal = blocks.signal { throw Failure(.init(signal: signal), "\(counts), then interrupted") }
        guard refused.isEmpty else { throw Failure(.dataError, "\(counts); \(Self.text(refused))") }
    }

    private static func text(_ refused: [Int]) -> String {
        let numbers = refused.prefix(10).map(String.init).joined(separator: ", ")
        let rest = refused.count > 10 ? " and \(refused.count - 10) more" : ""
        return "no device id (1 to 64 characters of A-Z a-z 0-9 _ -) in line \(numbers)\(rest)"
    }

    /// The result of a block of lines.
    private struct Lines: Sendable {
        var output: [UInt8] = []
        private(set) var count = 0
        /// The numbers of the lines that are no device ids.
        private(set) var refused: [Int] = []
        private(set) var failure: (any Error)?

        init(_ block: LineReader.Block, _ export: DeviceExport) {
            switch block.content {
            case .longLine(_, let isLast): if isLast { refused = [block.number] }
            case .lines:
                do { try append(Array(block.lines), export) } catch { failure = error }
            }
        }

        private mutating func append(_ lines: [LineReader.Line], _ export: DeviceExport) throws {
            // An array that grows would leave copies of secrets in memory.
            output.reserveCapacity(lines.count * (128 + export.keyset.entries.count * 512))
            for line in lines {
                guard let device = try? DeviceID(String(decoding: line.bytes, as: UTF8.self)) else {
                    refused.append(line.number)
                    continue
                }
                var set = try export.set(of: device)
                defer { wipe(&set) }
                output += "{\"device\":\"\(device)\",\"keyset\":".utf8
                // JSON strings have no newlines, so these and the spaces after them can go.
                for line in set.split(separator: .newline) { output += line.drop { $0 == UInt8(ascii: " ") } }
                output += "}\n".utf8
                count += 1
            }
        }
    }
}
