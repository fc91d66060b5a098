import ArgumentParser

/// `-q`, which every command accepts and the help of `pushcrypt` explains. ``StandardStreams`` reads it from the arguments.
struct MessageOptions: ParsableArguments {
    @Flag(name: [.customShort("q"), .customLong("no-notes")], help: .init("No notes on stderr.", visibility: .hidden))
    var isQuiet = false
}
