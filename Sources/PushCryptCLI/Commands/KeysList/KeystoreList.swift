import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

/// The output of `keys list` for keystores: a line for each keyset, including those that can't be read.
///
/// ```
/// {"keyset": PATH, "kind", "id", "keys": n, "primary": KID | null, "secrets": [NAME], "line": n, "hash": HASH, "at": TIME,
///  "writer": TEXT | null, "due": [STEP], "blocked": [STEP], "next": STEP | null, "sets": [SET], "problem": TEXT | null}
/// {"keyset": PATH, "problem": TEXT}
/// ```
/// STEP is that of `RotationPlan.Step.row`, `PublicationStatus` defines SET.
struct KeystoreList {
    private struct Row {
        let path: String
        let view: KeysetView?
        /// Why the keyset can't be read, or that another file has its id.
        var failure: Failure?
    }

    private var rows = [Row]()

    /// - Throws: `Failure` if no keystore has a keyset.
    init(_ keystores: [String], _ keysets: HostKeysets) throws {
        for keystore in keystores {
            do {
                let names = try FileSystem.names(in: keystore).filter { $0.hasSuffix(KeysetLocation.suffix) }
                rows += names.sorted().map { Self.row(KeysetLocation(Self.path(of: $0, in: keystore)), keysets) }
            } catch { rows.append(Row(path: keystore, view: nil, failure: Failure(error, of: keystore))) }
        }
        guard !rows.isEmpty else {
            throw Failure(
                .noInput, "\(keystores.joined(separator: ", ")) contains no keyset. To make one: `pushcrypt init`")
        }
        markCopies()
    }

    private static func path(of name: String, in keystore: String) -> String {
        keystore.hasSuffix("/") ? path(of: name, in: String(keystore.dropLast())) : "\(keystore)/\(name)"
    }

    private static func row(_ location: KeysetLocation, _ keysets: HostKeysets) -> Row {
        do {
            let view = try keysets.view(location)
            return Row(path: view.path, view: view)
        } catch { return Row(path: location.path, view: nil, failure: Failure(error, of: location.path)) }
    }

    /// Files of one id.
    private mutating func markCopies() {
        let copies = Dictionary(grouping: rows.indices.filter { rows[$0].view != nil }) { rows[$0].view?.log?.state.id }
        for (id, indices) in copies where indices.count > 1 {
            guard let id else { continue }
            let refusal = KeystoreRefusal.twoFiles(id: id, paths: indices.map { rows[$0].path })
            for index in indices { rows[index].failure = Failure(refusal, of: rows[index].path) }
        }
    }

    /// - Throws: `ExitCode` of the first failure.
    func print(asJSON: Bool) throws {
        try StandardStreams.write(rows.map(Self.json), asJSON: asJSON) { terminal in
            table(terminal).lines(terminal, width: StandardStreams.columns).map { $0 + "\n" }.joined()
        }
        var messages = [String]()
        for failure in rows.compactMap(\.failure) where !messages.contains(failure.message) {
            StandardStreams.writeError(failure.message)
            messages.append(failure.message)
        }
        if let failure = rows.lazy.compactMap(\.failure).first { throw ExitCode(failure.status.rawValue) }
    }

    private func table(_ terminal: TerminalText) -> TextTable {
        let columns: [TextTable.Column] = [
            .init("KEYSET"), .init("KIND", importance: 2), .init("ID", importance: 4), .init("KEYS", importance: 0),
            .init("PRIMARY", importance: 3), .init("PROTECTION", importance: 1), .init("NEXT STEP"),
        ]
        return TextTable(
            columns,
            rows.map { row in
                let path = TextTable.Cell(text: TerminalText.harmless(row.path.utf8))
                guard let view = row.view, let state = view.log?.state else {
                    return [path, "-", "-", "-", "-", "-", .init(text: "can't be read") { terminal.styled($0, .bad) }]
                }
                let primary = view.primary.map { status in
                    TextTable.Cell(text: "\(status.kid)") { terminal.styled($0, .state(status.state)) }
                }
                return [
                    path, .init(text: view.kind.rawValue), .init(text: "\(state.id)"),
                    .init(text: "\(view.remaining.count)"), primary ?? "none", .init(text: Self.protection(state)),
                    row.failure == nil
                        ? step(of: view, terminal) : .init(text: "two files, one id") { terminal.styled($0, .bad) },
                ]
            })
    }

    private static func protection(_ state: KeysetState) -> String {
        if state.isDemo { return "published demo" }
        return state.secrets.isEmpty ? "plain text" : NumberText.counted(state.secrets.count, "secret")
    }

    private func step(of view: KeysetView, _ terminal: TerminalText) -> TextTable.Cell {
        guard let plan = view.plan else { return "-" }
        if let step = plan.blocked.first {
            return .init(text: "blocked: \(step.action.text)") { terminal.styled($0, .bad) }
        }
        if let step = plan.due.first { return .init(text: "due: \(step.action.text)") { terminal.styled($0, .due) } }
        guard let step = plan.next else { return "-" }
        let objection = step.blockedBy == nil ? "" : ", blocked"
        return .init(text: "\(step.action.text) \(TimeDistance.text(step.dueAt, from: view.now))\(objection)")
    }

    private static func json(_ row: Row) -> JSONObject {
        guard let view = row.view, let state = view.log?.state else {
            return ["keyset": row.path, "problem": row.failure?.message]
        }
        return [
            "keyset": row.path, "kind": view.kind.rawValue, "id": "\(state.id)", "keys": view.remaining.count,
            "primary": view.primary?.kid.description, "secrets": state.secrets.map(\.description),
            "line": state.head.number, "hash": Base64URL.encode(state.head.hash), "at": "\(state.at)",
            "writer": state.writer, "due": view.plan?.due.map(\.row) ?? [],
            "blocked": view.plan?.blocked.map(\.row) ?? [], "next": view.plan?.next?.row, "sets": view.sets.map(\.json),
            "problem": row.failure?.message,
        ]
    }
}
