import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

extension Settings {
    /// Reads the settings that an option or the environment names, else those of the host, else those of the user. The working
    /// folder is none of these places: a clone belongs to its user, and the file may name programs. A host's settings that belong
    /// to another user are for that user, so the caller's own come next.
    ///
    /// ```
    /// --settings FILE
    /// PUSHCRYPT_SETTINGS
    /// /etc/pushcrypt/pushcrypt.json
    /// XDG_CONFIG_HOME/pushcrypt/pushcrypt.json         ~/.config by default
    /// ```
    /// - Parameter named: the option's value.
    /// - Returns: nil if nothing is named, and neither of the other files exists.
    /// - Throws: as ``init(reading:_:)``; `SettingsError` with `foreignOwner` if only such a file exists.
    package static func find(_ named: String?, _ context: SettingsContext = SettingsContext()) throws -> Settings? {
        // As XDG's specification says of its own variables, an empty one isn't set, and a relative one doesn't count.
        func variable(_ name: String) -> String? { context.variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        func folder(_ name: String) -> String? { variable(name).flatMap { Self.isAbsolute($0) ? $0 : nil } }
        if let path = named ?? variable("PUSHCRYPT_SETTINGS") { return try Settings(reading: path, context) }
        let user = folder("XDG_CONFIG_HOME") ?? folder("HOME").map { $0 + "/.config" }
        var foreign: SettingsError?
        for folder in [context.root + "/etc", user].compactMap(\.self) {
            let path = folder + "/pushcrypt/pushcrypt.json"
            do {
                if try FileStatus.at(path) != nil { return try Settings(reading: path, context) }
            } catch let error as SettingsError where error.code == .foreignOwner { foreign = error }
        }
        if let foreign { throw foreign }
        return nil
    }

    /// Reads the settings. The file belongs to the caller or to root, and nobody else can write or replace it.
    ///
    /// - Throws: `SettingsError`; `FileError` if it can't be read.
    package init(reading path: String, _ context: SettingsContext = SettingsContext()) throws {
        let path = Self.absolute(path)
        try TrustedPath.check(path, nil, context, allowingSticky: true)
        try self.init(json: FileSystem.readFoundFile(path), path: path, context)
    }

    /// - Throws: `SettingsError`.
    package init(
        json: [UInt8], path: String, _ context: SettingsContext = SettingsContext()
    ) throws(SettingsError) {
        self.init(path: path, context)
        let text: JSONText
        do throws(JSONError) { text = try JSONText(json) } catch {
            throw SettingsError(.malformed, self.path, json: error)
        }
        let reader = try SettingsReader(text.root, self.path)
        try reader.allowOnly(
            "keystores", "history", "secret", "secrets", "publish", "devices", "after", "expected")
        for (index, text) in try reader.list("keystores").enumerated() {
            let keystore = reader.resolved(text)
            guard !keystores.contains(where: { PathComponents($0) == PathComponents(keystore) }) else {
                throw reader.error(.duplicate, "keystores[\(index)]")
            }
            keystores.append(keystore)
        }
        history = try reader.path("history")
        secret = try reader.child("secret").map(Secret.init)
        secrets = try reader.map("secrets", Secret.init)
        publishTo = try reader.child("publish").map { publish throws(SettingsError) in
            try publish.allowOnly("to")
            return try publish.requiredPath("to")
        }
        devices = try reader.map("devices") { devices throws(SettingsError) in
            try devices.allowOnly("list", "to")
            return Devices(list: try devices.requiredPath("list"), to: try devices.requiredPath("to"))
        }
        after = try reader.path("after")
        for (index, name) in try reader.list("expected").enumerated() {
            try reader.requireName(name, "expected[\(index)]")
            guard !expected.contains(name) else { throw reader.error(.duplicate, "expected[\(index)]") }
            expected.append(name)
        }
        try requireApart(reader)
    }

    /// A web server would give away what lies in the served folder. A snapshot of a keystore would take back a history in it.
    private func requireApart(_ reader: SettingsReader) throws(SettingsError) {
        let outboxes = devices.sorted { $0.key < $1.key }.map { ("devices.\($0).to", $1.to) }
        let files = ([("secret", secret)] + secrets.sorted { $0.key < $1.key }.map { ("secrets.\($0)", $1) })
            .compactMap { name, secret in if case .file(let path)? = secret { (name, path) } else { nil } }
        let history = history.map { [("history", $0)] } ?? []
        let served = publishTo.map { [("publish.to", $0)] } ?? []
        func refuse(_ places: [(name: String, path: String)], in folder: String) throws(SettingsError) {
            let components = PathComponents(folder)
            if let place = places.first(where: { PathComponents($0.path).lies(in: components) }) {
                throw reader.error(.conflicting, place.name)
            }
        }
        for (_, folder) in served {
            try refuse(keystores.map { ("keystores", $0) } + history + outboxes + files, in: folder)
        }
        for keystore in keystores { try refuse(served + history + outboxes, in: keystore) }
        for (index, outbox) in outboxes.enumerated()
        where outboxes[..<index].contains(where: { PathComponents($0.1) == PathComponents(outbox.1) }) {
            throw reader.error(.duplicate, outbox.0)
        }
        guard expected.isEmpty || !keystores.isEmpty else { throw reader.error(.conflicting, "expected") }
    }
}

extension Settings.Secret {
    fileprivate init(_ reader: SettingsReader) throws(SettingsError) {
        try reader.allowOnly("file", "command", "credential")
        guard reader.members.count == 1 else { throw reader.error(.missingMember) }
        if let path = try reader.path("file") {
            self = .file(path)
        } else if let path = try reader.path("command") {
            self = .command(path)
        } else {
            self = .credential(try reader.fileName("credential"))
        }
    }
}

/// The components of an absolute path without `.` and `..`. Links aren't resolved: this finds mistakes and stops no attack.
private struct PathComponents: Equatable {
    private var components: [Substring] = []

    init(_ path: String) {
        for component in path.split(separator: "/") where component != "." {
            if component == ".." { _ = components.popLast() } else { components.append(component) }
        }
    }

    func lies(in folder: PathComponents) -> Bool { components.starts(with: folder.components) }
}

/// Reads an object of the settings. Each function refuses another form.
private struct SettingsReader {
    private let value: JSONValue
    private let file: String
    /// The name of the object; nil for the root.
    private let name: String?

    init(_ value: JSONValue, _ file: String, _ name: String? = nil) throws(SettingsError) {
        (self.value, self.file, self.name) = (value, file, name)
        guard value.kind == .object else { throw error(.wrongType) }
    }

    func error(_ code: SettingsError.Code, _ member: String? = nil) -> SettingsError {
        let names = [name, member].compactMap(\.self)
        return SettingsError(code, file, names.isEmpty ? nil : names.joined(separator: "."))
    }

    /// The members that aren't comments.
    var members: [JSONMember] { value.members.filter { $0.name.utf8.first != UInt8(ascii: "#") } }

    func allowOnly(_ names: String...) throws(SettingsError) {
        for member in members where !names.contains(where: { member.hasName($0) }) {
            throw error(.unknownMember, member.name)
        }
    }

    func child(_ name: String) throws(SettingsError) -> SettingsReader? {
        guard let child = value[name] else { return nil }
        return try SettingsReader(child, file, [self.name, name].compactMap(\.self).joined(separator: "."))
    }

    /// An object whose members have the names of keysets.
    func map<Value>(
        _ name: String, _ read: (SettingsReader) throws(SettingsError) -> Value
    ) throws(SettingsError) -> [String: Value] {
        var result: [String: Value] = [:]
        guard let child = try child(name) else { return result }
        for member in child.members {
            try child.requireName(member.name, member.name)
            let value = try read(SettingsReader(member.value, file, "\(name).\(member.name)"))
            // JSON compares bytes, and Swift characters.
            guard result.updateValue(value, forKey: member.name) == nil else {
                throw child.error(.duplicate, member.name)
            }
        }
        return result
    }

    func list(_ name: String) throws(SettingsError) -> [String] {
        guard let array = value[name] else { return [] }
        guard array.kind == .array else { throw error(.wrongType, name) }
        guard !array.elements.isEmpty else { throw error(.empty, name) }
        var texts: [String] = []
        for element in array.elements { texts.append(try text(element, "\(name)[\(texts.count)]")) }
        return texts
    }

    func path(_ name: String) throws(SettingsError) -> String? {
        value[name] == nil ? nil : try requiredPath(name)
    }

    func requiredPath(_ name: String) throws(SettingsError) -> String { resolved(try text(name)) }

    /// The absolute path.
    func resolved(_ text: String) -> String {
        Settings.isAbsolute(text) ? text : "\(FileSystem.parent(of: file))/\(text)"
    }

    func fileName(_ name: String) throws(SettingsError) -> String {
        let text = try text(name)
        try requireName(text, name)
        return text
    }

    private func text(_ name: String) throws(SettingsError) -> String {
        guard let member = value[name] else { throw error(.missingMember, name) }
        return try text(member, name)
    }

    private func text(_ value: JSONValue, _ name: String) throws(SettingsError) -> String {
        guard let text = value.string else { throw error(.wrongType, name) }
        try check(text, name)
        return text
    }

    private func check(_ text: String, _ name: String) throws(SettingsError) {
        guard !text.isEmpty else { throw error(.empty, name) }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw error(.controlCharacter, name)
        }
    }

    func requireName(_ text: String, _ member: String) throws(SettingsError) {
        try check(text, member)
        guard !text.utf8.contains(UInt8(ascii: "/")), ![".", ".."].contains(text),
            !text.hasSuffix(KeysetLocation.suffix)
        else { throw error(.invalidName, member) }
    }
}
