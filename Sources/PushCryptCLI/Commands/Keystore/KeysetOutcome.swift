import PushCryptCore
import PushCryptKeysets

/// What a command did with one keyset.
struct KeysetOutcome {
    let location: KeysetLocation
    /// What is printed before each change.
    let name: String
    var id: KeysetID?
    /// Of a new key. It stands alone on stdout, and the changes are notes.
    var kid: KeyID?
    var changes: [String] = []
    /// What a dry run leaves.
    var due: [String] = []
    var failures: [Failure] = []
    /// What another host has to sign: a note, and a failure of ``requireSigned()``.
    var unsigned: [Failure] = []
    /// Whether the run of `rotate` is in the history.
    var isRecorded = false

    init(_ location: KeysetLocation, named name: String? = nil) {
        self.location = location
        self.name = name ?? location.path
    }

    var status: Int32 {
        failures.map(\.status.rawValue).max(by: Self.isLessSevere) ?? (due.isEmpty ? 0 : 10)
    }

    /// For a command that has done nothing while apps don't have its change.
    mutating func requireSigned() {
        failures += unsigned
        unsigned = []
    }

    mutating func fail(_ error: any Error) { failures.append(Failure(error, of: location.path)) }

    /// 0, 10, 75, 69, and every other one is more severe.
    static func isLessSevere(_ left: Int32, _ right: Int32) -> Bool { severity(left) < severity(right) }

    private static func severity(_ status: Int32) -> Int { [0, 10, 75, 69].firstIndex(of: status) ?? 4 }

    /// Prints one line per change, and the failures on stderr.
    func print(asJSON: Bool, asNotes: Bool = false) throws {
        for failure in failures { StandardStreams.writeError(failure.message) }
        for failure in unsigned { StandardStreams.writeNote(failure.message) }
        if asJSON {
            let json: JSONObject = [
                "keyset": name, "id": id?.description, "changes": changes, "due": due,
                "errors": failures.map(\.message), "status": status,
            ]
            return try StandardStreams.writeJSON(json, [])
        }
        if let kid { try StandardStreams.write("\(kid)\n") }
        for line in (changes + due).map({ "\(name): \($0)" }) {
            guard kid == nil, !asNotes else {
                StandardStreams.writeNote(line)
                continue
            }
            // One line per change, for scripts also if COLUMNS is set.
            let width = StandardStreams.isTerminal ? StandardStreams.wrappingColumns : .max
            try StandardStreams.write(TerminalText.wrap(lines: TerminalText.harmless(line.utf8), width: width) + "\n")
        }
    }
}
