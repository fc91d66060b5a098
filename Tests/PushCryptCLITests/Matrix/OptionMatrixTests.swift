import Foundation
import Testing

/// Every command with every mistake in each of its options and arguments, from the tool's own description of them.
@Suite("mistakes in options", .ownThreads)
struct OptionMatrixTests {
    private static let commands = (try? DescribedCommand.all.get())?.map { path, command in
        (path: String(path.dropFirst("pushcrypt ".count)), arguments: command.arguments ?? [])
    }
    static let paths = commands?.map(\.path) ?? []

    /// These answer before anything else, or have tests of their own.
    private static let answers: Set = ["--help", "--settings", "--history"]

    /// Commands that print what is wrong with the files of others on stdout: a placeholder, a diagnosis, a status.
    private static let reporting: Set = ["open", "diagnose", "simulate", "status"]

    private static func arguments(of path: String) throws -> [DescribedCommand.Argument] {
        try #require(commands?.first { $0.path == path }).arguments.filter { !answers.contains($0.name) }
    }

    @Test("every command and every option is known to the matrix")
    func known() throws {
        #expect(Self.paths.count >= 30)
        for path in Self.paths {
            #expect(MatrixCommand(path) != nil, "\(path): add arguments with which it succeeds to MatrixCommand.lines")
            for argument in try Self.arguments(of: path) where argument.kind != "flag" {
                #expect(
                    ValueRule.rule(for: argument, of: path) != nil,
                    "\(path) \(argument.name) <\(argument.valueName ?? "")>: add what it takes to ValueRule")
            }
        }
    }

    @Test("each mistake of each option is made, or there is a reason why it isn't one")
    func size() throws {
        var (cells, skips) = (0, 0)
        for path in Self.paths {
            for argument in try Self.arguments(of: path) {
                let rule = ValueRule.rule(for: argument, of: path)
                for mistake in Mistake.allCases {
                    switch try MatrixPlan(mistake, argument, rule, of: path) {
                    case .run: cells += 1
                    case .skip(let reason):
                        skips += 1
                        #expect(!reason.isEmpty, "\(path) \(argument.name): \(mistake)")
                    }
                }
            }
        }
        #expect(cells > 1500 && skips > 1500, "\(cells) cells, \(skips) skips")
    }

    @Test("each command succeeds without a mistake", arguments: paths)
    func succeeds(_ path: String) throws {
        let place = try MatrixPlace()
        let command = try #require(MatrixCommand(path))
        let output = try place.run(command.arguments, stdin: command.stdin)
        #expect(output.exit == 0, "\(command.arguments): \(output)")
    }

    @Test(
        "a mistake is refused with its exit status and the option's name, prints no data and changes no key",
        arguments: paths)
    func refused(_ path: String) throws {
        var place = try MatrixPlace()
        for argument in try Self.arguments(of: path) {
            let rule = ValueRule.rule(for: argument, of: path)
            for mistake in Mistake.allCases {
                guard case .run(let cell) = try MatrixPlan(mistake, argument, rule, of: path) else { continue }
                let output = try place.run(cell.arguments, stdin: cell.stdin)
                let isReport = mistake.isInFile && Self.reporting.contains(path)
                let status = path == "status" && isReport ? rule?.kind == .passphraseFile ? 2 : 3 : cell.status
                expect(output, status, cell, isReport: isReport, "\(mistake) of \(argument.name)")
            }
            let isUnchanged = try place.isUnchanged
            #expect(isUnchanged, "\(path): a mistake in \(argument.name) has changed a file")
            if !isUnchanged { place = try MatrixPlace() }
        }
    }

    /// - Parameter isReport: whether the message may be on stdout.
    private func expect(_ output: Output, _ status: Int32, _ cell: MatrixCell, isReport: Bool, _ mistake: String) {
        let label: Comment = "\(mistake): pushcrypt \(cell.arguments.joined(separator: " ").prefix(300)): \(output)"
        let text = isReport ? output.stderr + output.text : output.stderr
        #expect(output.exit == status, label)
        #expect(cell.names.contains(where: text.contains), label)
        #expect(output.stdout.isEmpty || isReport, label)
        #expect(!text.contains("correct horse") && !text.contains("another horse"), label)
    }
}
