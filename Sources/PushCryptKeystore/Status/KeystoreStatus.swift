package import PushCryptCore
package import PushCryptKeysets

/// What a monitor and an operator need to know of a host's keystores. Nothing is changed, and no secret is needed.
package struct KeystoreStatus: Sendable {
    package struct Places: Sendable {
        package let keystores: [String]
        /// nil if the host keeps no histories.
        package let history: HistoryFolder?
        /// nil if the host serves no sets.
        package let served: String?
        /// The names or ids of keysets that must be there.
        package let expected: [String]
        /// The devices of shared keysets, by the keyset's name.
        package let devices: [String: Settings.Devices]
        /// The names of keysets with secrets of their own.
        package let secrets: [String]

        package init(
            keystores: [String], history: HistoryFolder?, served: String? = nil, expected: [String] = [],
            devices: [String: Settings.Devices] = [:], secrets: [String] = []
        ) {
            self.keystores = keystores
            self.history = history
            self.served = served
            self.expected = expected
            self.devices = devices
            self.secrets = secrets
        }
    }

    /// What a monitor plots of a keyset.
    package struct Keyset: Sendable {
        package let reference: KeysetReference
        package let kind: KeyKind
        package let head: LogPoint
        /// nil for publishers.
        package let primary: KeyID?
        package let pending: [KeyTimeline.Key]
        package let retiring: [KeyTimeline.Key]
        /// When the last set of each epoch ends.
        package let setsEnd: [Int64: UnixTime]
        package let lastRun: UnixTime?
        package let lastStatus: Int?
    }

    /// The worst first.
    package let findings: [StatusFinding]
    package let keysets: [Keyset]
    /// The latest of all keysets.
    package var lastRun: UnixTime? { keysets.compactMap(\.lastRun).max() }
    /// nil if there are no findings.
    package var severity: StatusFinding.Severity? { findings.first?.severity }

    /// Examines the keystores of a host.
    ///
    /// - Parameters:
    ///   - secret: the secret of a keyset; nil for keys in clear.
    ///   - isLong: whether to unlock keysets, if `secret` is given, and to name unknown files.
    ///   - probe: why commands can't write to a folder; with whether they lock it.
    package init<Storage: KeystoreStorage>(
        _ host: KeystoreHost<Storage>, _ places: Places, isLong: Bool = false,
        secret: ((KeysetReference) throws -> KeysetSecret?)? = nil,
        probe: @escaping (String, Bool) -> FolderFault? = { FolderFault($0, needsLock: $1) }
    ) {
        let examination = StatusExamination(host, places, isLong: isLong, secret: secret, probe: probe)
        examination.examine()
        findings = examination.findings.sorted()
        keysets = examination.keysets.map { Keyset($0, at: host.clock) }
    }
}

extension KeystoreStatus.Keyset {
    init(_ keyset: ExaminedKeyset, at clock: UnixTime) {
        let (state, timeline) = (keyset.state, keyset.state.timeline)
        reference = keyset.reference
        kind = state.kind
        head = state.head
        primary = kind == .publisher ? nil : timeline.primary(at: clock)?.kid
        pending = kind == .publisher ? [] : timeline.keys(in: .pending, at: clock)
        retiring = timeline.keys(in: .retiring, at: clock)
        setsEnd = state.epochs.keys.reduce(into: [:]) { $0[$1] = state.published[$1]?.validUntil }
        lastRun = keyset.history?.lastRun
        lastStatus = keyset.history?.lastStatus
    }
}

/// A keyset whose file can be read. Its log isn't authenticated unless it was unlocked.
struct ExaminedKeyset {
    let reference: KeysetReference
    let rows: KeysetRows
    var history: KeysetHistory?
    /// Whether it is the only file of its id and goes on from what the host has seen.
    var isSound = false

    var log: KeysetLog { rows.log }
    var state: KeysetState { rows.log.state }
    var isRotated: Bool { isSound && state.kind != .publisher }
}
