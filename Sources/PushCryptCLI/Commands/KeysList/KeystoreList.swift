import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The output of `keys list` for a keystore: a line for each keyset, including those that can't be read.
///
/// ```
/// {"keyset", "kind", "keys": n, "primary": KID | null, "protection", "due": [STEP], "blocked": [STEP],
///  "next": STEP | null, "problem": null}
/// {"keyset", "problem": TEXT}
/// ```
/// `RotationReport` defines STEP.
struct KeystoreList {
    private let keysets: [(path: String, content: Result<Content, Failure>)]

    private struct Content {
        let view: KeysetView
        let protection: String
    }

    /// - Throws: `Failure` if it contains no keyset.
    init(_ path: String, at time: UnixTime) throws {
        let paths = try Keystore(path).everyKeyset()
        guard !paths.isEmpty else {
            throw Failure(.noInput, "\(path) is a folder without a keyset.json and contains no keyset")
        }
        keysets = paths.map { path in (path, Self.content(path, at: time)) }
    }

    private static func content(_ path: String, at time: UnixTime) -> Result<Content, Failure> {
        do {
            let file = try KeysetFolder(path).file()
            let view = KeysetView(path, file.metadata, isFile: false, at: time)
            let isDemo = DemoKeys.covers(file.keyIDs)
            return .success(Content(view: view, protection: isDemo ? "published demo" : file.protection.name))
        } catch {
            return .failure(Failure(error))
        }
    }

    /// - Throws: `ExitCode` of the first problem if a keyset couldn't be read.
    func print(asJSON: Bool, width: Int) throws {
        try StandardStreams.write(keysets.map(Self.json), asJSON: asJSON) { terminal in
            table(terminal).lines(terminal, width: width).map { $0 + "\n" }.joined()
        }
        let failures = keysets.compactMap { keyset in keyset.content.failure.map { failure in (keyset.path, failure) } }
        for (path, failure) in failures {
            let isNamed = failure.message.contains(path)
            StandardStreams.writeError(isNamed ? failure.message : "\(path): \(failure.message)")
        }
        if let failure = failures.first?.1 { throw ExitCode(failure.status.rawValue) }
    }

    private func table(_ terminal: TerminalText) -> TextTable {
        let columns: [TextTable.Column] = [
            .init("KEYSET"), .init("KIND", importance: 1), .init("KEYS", importance: 0), .init("PRIMARY"),
            .init("PROTECTION", importance: 2), .init("NEXT STEP"),
        ]
        return TextTable(
            columns,
            keysets.map { keyset in
                let path = TerminalText.harmless(keyset.path.utf8)
                guard let content = try? keyset.content.get() else {
                    return [
                        .init(text: path), "-", "-", "-", "-",
                        .init(text: "can't be read") { terminal.styled($0, .bad) },
                    ]
                }
                let view = content.view
                return [
                    .init(text: path), .init(text: view.metadata.kind.rawValue), .init(text: "\(view.remaining.count)"),
                    view.primary.map { status in
                        .init(text: "\(status.kid)") { terminal.styled($0, .state(status.state)) }
                    }
                        ?? "none",
                    .init(text: content.protection), step(of: view, terminal),
                ]
            })
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

    private static func json(_ path: String, _ content: Result<Content, Failure>) -> JSONObject {
        switch content {
        case .failure(let failure): return ["keyset": path, "problem": failure.message]
        case .success(let content):
            let (view, plan) = (content.view, content.view.plan)
            return [
                "keyset": path, "kind": view.metadata.kind.rawValue, "keys": view.remaining.count,
                "primary": view.primary?.kid.description, "protection": content.protection,
                "due": (plan?.due ?? []).map { $0.json() }, "blocked": (plan?.blocked ?? []).map { $0.json() },
                "next": plan?.next?.json(), "problem": nil,
            ]
        }
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
