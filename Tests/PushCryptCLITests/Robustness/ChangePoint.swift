/// The steps of a change at which the tests kill it, in order.
enum ChangePoint: String, CaseIterable {
    case locked
    case keysetCreated = "keyset-created"
    case keysetWritten = "keyset-written"
    case keysetSynced = "keyset-synced"
    case keysetRenamed = "keyset-renamed"
    case publicCreated = "public-created"
    case publicWritten = "public-written"
    case publicSynced = "public-synced"
    case publicRenamed = "public-renamed"
    case published
    case logged

    /// Whether the change was made: the rename of the keyset's file makes it.
    var isMade: Bool {
        switch self {
        case .locked, .keysetCreated, .keysetWritten, .keysetSynced: false
        default: true
        }
    }

    /// The notices that the next command prints.
    func notices(_ path: String, missingLines count: Int) -> [String] {
        let lines = "\(count) missing line\(count == 1 ? "" : "s")"
        let log = "\(path): wrote \(lines) of the audit log, which an interrupted change had not finished"
        let set = "\(path): wrote public.jwks.json again from the keyset"
        switch self {
        case .locked, .logged: return []
        case .keysetCreated, .keysetWritten, .keysetSynced: return [discarded(path, "keyset.json")]
        case .keysetRenamed: return [log, set]
        case .publicCreated, .publicWritten, .publicSynced: return [discarded(path, "public.jwks.json"), log, set]
        case .publicRenamed, .published: return [log]
        }
    }

    private func discarded(_ path: String, _ name: String) -> String {
        "\(path): discarded \(name).new-RANDOM, which an interrupted change had not finished"
    }
}
