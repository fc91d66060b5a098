import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What commands take that work on JSON lines.
struct BatchOptions: ParsableArguments {
    @Flag(help: "JSON lines on stdin, JSON lines on stdout, in the same order and on all cores.")
    var batch = false

    @Option(
        help: ArgumentHelp(
            "Where lines go that don't come out: a new file, for its owner alone.", valueName: "FILE"))
    var errors: String?

    @Option(
        help: ArgumentHelp(
            "Begin with this line of stdin, as an earlier run that broke off has said. (default: 1)",
            valueName: "LINE"))
    var resumeFrom: Int?

    @Option(help: ArgumentHelp("How many threads work. (default: as many as there are cores)", valueName: "N"))
    var jobs: Int?

    func validate() throws {
        if !batch,
            let name = [
                errors.map { _ in "errors" }, resumeFrom.map { _ in "resume-from" },
                jobs.map { _ in "jobs" },
            ].compactMap(\.self).first
        {
            throw ValidationError("--\(name) belongs to --batch.")
        }
        guard errors != "" else { throw ValidationError("--errors names no file.") }
        guard (resumeFrom ?? 1) >= 1 else { throw ValidationError("--resume-from: lines are counted from 1.") }
        guard (1...256).contains(jobs ?? 1) else { throw ValidationError("--jobs takes 1 to 256.") }
    }

    var width: Int { jobs ?? Self.coreCount }

    static var coreCount: Int { min(ProcessInfo.processInfo.activeProcessorCount, 256) }

    /// In the help of each command that has these options.
    static let discussion = """
        A line that can't be worked on goes to the errors file and the rest goes on: {"line": NUMBER, "reason": CLASS, \
        "message": WORDS, "input": LINE}, or "inputBase64" for a line over 1 MiB or not UTF-8; the exit status is 65 \
        then. The input may hold keys: the file is readable for its owner alone, and stderr never shows a line. Every line \
        is on stdout or refused; the counts are on stderr.

        Ctrl-C and SIGTERM finish the lines that were read (exit status 130, 143; a second one ends at once), a reader \
        that goes away or a full disk ends it too (74), and stderr says with which line to go on: --resume-from. A last \
        line on stdout without its newline is incomplete then.
        """
}
