import ArgumentParser

/// The options of every command for messages on stderr. ``StandardStreams`` reads them from the arguments.
struct MessageOptions: ParsableArguments {
    @Flag(name: [.customShort("q"), .customLong("no-notes")], help: "Write no notes to stderr, only errors.")
    var isQuiet = false
    @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Write to stderr what is read and used.")
    var isVerbose = false

    func validate() throws {
        guard !(isQuiet && isVerbose) else {
            throw ValidationError("-q (--no-notes) and -v (--verbose) can't be combined.")
        }
    }
}
