import MonotonicTime

/// A process that does nothing: it prints the time of its first statement.
@main
enum Main {
    static func main() { print(monotonicNanoseconds()) }
}
