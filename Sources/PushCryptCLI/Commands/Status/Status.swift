import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether keysets need an operator, for a monitor: one line first.",
        discussion: """
            The first line is that of a plugin of Nagios, Icinga or a similar monitor; below it are the keysets, and then \
            each problem with what to do. It reads the files as `keys doctor` does and needs no secret; one that is given is \
            checked. Problems are the doctor's warnings and errors. A step of `rotate` that has been due or blocked for more \
            than 7 days is an error. What `rotate` would refuse counts as blocked: a keyset with an error, or that another host \
            changes, or a wrong clock. The published demo keys don't count.

            --prometheus writes metrics for the textfile collector of the node exporter. The file is replaced atomically and \
            every user may read it.

            A keyset that is named and missing is an error. One that vanishes from a keystore isn't noticed: name those that \
            must be there, beside the keystore. --served compares each keyset with the sets that are published.

            Exit status, unlike that of other commands: 0 ok; 1 warning; 2 critical: an error, such as a keyset or a keystore \
            that is missing, a keyset that can't be read, or a late step; 3 unknown: a keystore, the reports or the published \
            sets can't be read, or the metrics can't be written, and nothing is critical. Bad usage is 64.

            Example: pushcrypt status Keys Keys/senders --served /srv/www --prometheus /var/lib/node_exporter/pushcrypt.prom
            """)

    @Argument(help: .init("Keystores or keysets. (default: PUSHCRYPT_KEYS, else Keys)", "Keys"))
    var givenPaths: [String] = []
    @Option(help: .init("Write metrics to this file, FILE.prom in the folder of the textfile collector.", "FILE"))
    var prometheus: String?
    @Option(help: .init("The devices' reports, as for keys coverage.", "FILE|-")) var reports: String?
    @Option(
        help: .init("A code of `keys doctor --json` that doesn't count, such as plain-text; may be repeated.", "CODE"))
    var ignore: [String] = []
    @OptionGroup var served: ServedOption
    @Flag(help: "Print JSON: one object.") var json = false
    @OptionGroup var secretCheck: SecretCheckOptions
    @OptionGroup var timeOptions: TimeOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var paths: [String] { givenPaths.isEmpty ? [Defaults.keystore] : givenPaths }

    func validate() throws {
        for code in ignore where !Finding.codes.contains(code) {
            let similar = Spelling.nearest(to: code, in: Finding.codes.sorted())
            throw ValidationError(
                "--ignore: keys doctor has no code \(code)"
                    + (similar.map { ": do you mean \($0)?" } ?? "; it has "
                        + Finding.codes.sorted().joined(separator: ", ")))
        }
    }

    func run() throws {
        var report = StatusReport(at: timeOptions.time, ignoring: Set(ignore))
        report.attempt { try examine(&$0) }
        if let prometheus {
            report.attempt { report in
                let text = StatusMetrics(report).text
                try FileSystem.replace(prometheus, with: Array(text.utf8), mode: 0o644)
            }
        }
        try StandardStreams.write(report.json, asJSON: json) { report.text($0, width: StandardStreams.columns) }
        if report.level != .ok { throw ExitCode(report.level.rawValue) }
    }

    private func examine(_ report: inout StatusReport) throws {
        var context = try secretCheck.context(secrets, at: report.time)
        context.compare(paths)
        report.attempt { _ in context.reports = try reports.map { try DeviceReports(file: $0) } }
        report.attempt { _ in try served.add(to: &context, paths) }
        var known: Set<String> = []
        for path in paths {
            report.attempt { report in
                let found: KeystoreExamination
                do {
                    found = try KeystoreExamination(path, context, except: known)
                    try found.requireKeyset(in: path)
                } catch let error as KeystoreError where error.code == .notFound {
                    return report.addMissing(path, error)
                }
                known = found.examined
                if secretCheck.isChecked == nil, let note = found.uncheckedSecrets { StandardStreams.writeNote(note) }
                report.add(found, context.reports)
            }
        }
    }
}
