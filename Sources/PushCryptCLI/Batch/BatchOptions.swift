import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct BatchOptions: ParsableArguments {
    @Flag(help: "Read JSON lines from stdin and write JSON lines to stdout in the same order, on all cores.")
    var batch = false
    @Flag(
        help:
            "As --batch, for a process that keeps running: each line is answered on stdout at once, also a refused one."
    )
    var stream = false
    @Option(help: .init("A new file for refused lines, which only its owner can read.", "FILE")) var errors: String?
    @Option(help: .init("The line of stdin to begin with; an interrupted run prints it. (default: 1)", "LINE"))
    var resumeFrom: Int?
    @Option(help: .init("The number of threads. (default: the number of cores)", "N")) var jobs: Int?

    func validate() throws {
        guard !(batch && stream) else { throw ValidationError("--batch and --stream can't be combined.") }
        if !isOn, jobs != nil { throw ValidationError("--jobs is only for --batch and --stream.") }
        if !batch, let name = errors != nil ? "errors" : resumeFrom != nil ? "resume-from" : nil {
            throw ValidationError(stream ? Self.excess(name) : "--\(name) is only for --batch.")
        }
        guard (resumeFrom ?? 1) >= 1 else { throw ValidationError("--resume-from accepts 1 or more.") }
        guard (1...256).contains(jobs ?? 1) else { throw ValidationError("--jobs accepts 1 to 256.") }
    }

    private static func excess(_ name: String) -> String {
        name == "errors"
            ? "--errors can't be used with --stream: stdout has an answer to every line, also to a refused one."
            : "--resume-from can't be used with --stream: send the lines that have no answer again."
    }

    /// Whether stdin is read as lines.
    var isOn: Bool { batch || stream }

    /// The name of the option that was given.
    var name: String { stream ? "--stream" : "--batch" }

    var width: Int { jobs ?? Self.coreCount }

    static var coreCount: Int { min(ProcessInfo.processInfo.activeProcessorCount, 256) }

    /// The part of the help of each command that has these options.
    static let discussion = """
        A line that can't be processed is refused: it is written to the errors file, the other lines are processed, and \
        the exit status is 65. The errors file has {"line": NUMBER, "reason": CLASS, "message": TEXT, "input": LINE}, or \
        "inputBase64" for a line over 1 MiB or not UTF-8. The input may contain keys, so only the owner can read that \
        file, and stderr never shows a line. Every line is either written to stdout or refused; stderr shows the counts.

        Ctrl-C and SIGTERM finish the lines that were read (exit status 130, 143; a second one ends at once). A closed \
        stdout or a full disk ends the batch too (74). stderr then shows the line for --resume-from. A \
        last line on stdout without a newline is incomplete.

        With --stream, stdout has one line for each line of stdin, in the same order, each written as soon as it is \
        done. The answer to a refused line is {"error": {"code": CLASS, "reason": TEXT}, "pushcrypt": {"line": NUMBER}}, \
        with "id", "tag", "token", "device" and "campaign" of the line between them, if they are strings or numbers. It \
        repeats nothing else, because another member may contain plain text or keys. Refused lines don't change the exit \
        status: the end of stdin is 0. A line must not have a member "error" itself.
        """
}
