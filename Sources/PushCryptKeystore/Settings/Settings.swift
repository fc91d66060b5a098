package import PushCryptCore
package import PushCryptFiles
package import PushCryptKeysets

/// What an operator has decided for a host.
///
/// ```
/// {"keystores": [PATH, ...], "history": PATH, "secret": SECRET, "secrets": {KEYSET: SECRET, ...}, "publish": {"to": PATH},
///  "devices": {KEYSET: {"list": PATH, "to": PATH}, ...}, "after": PATH, "expected": [KEYSET, ...]}
/// SECRET = {"file": PATH} | {"command": PATH} | {"credential": NAME}
/// ```
/// No member is required. A reader refuses other members, except those that begin with `#`. PATH is relative to the file.
/// KEYSET is the name of a keyset's file without its suffix. A text isn't empty and has no control characters.
package struct Settings: Sendable {
    /// Where the secret of a keyset is.
    package enum Secret: Hashable, Sendable {
        /// A file with a passphrase.
        case file(String)
        /// A program that wraps and unwraps keys, see `WrapCommand`.
        case command(String)
        /// The name of a file with a passphrase in the folder that systemd names in `CREDENTIALS_DIRECTORY`.
        case credential(String)
    }

    /// The keys of a shared keyset's devices.
    package struct Devices: Hashable, Sendable {
        /// A file with one device id on a line.
        package let list: String
        /// The folder that gets a file for each device.
        package let to: String

        package init(list: String, to: String) {
            self.list = list
            self.to = to
        }
    }

    /// The file. This path and all others are absolute.
    package let path: String
    package var keystores: [String] = []
    package var history: String?
    /// For each keyset that `secrets` doesn't name.
    package var secret: Secret?
    package var secrets: [String: Secret] = [:]
    /// The served folder.
    package var publishTo: String?
    package var devices: [String: Devices] = [:]
    /// The program that runs after each change.
    package var after: String?
    /// The keysets that must be there.
    package var expected: [String] = []
    let context: SettingsContext

    /// - Parameter path: of the file, relative to the working folder.
    package init(path: String, _ context: SettingsContext = SettingsContext()) {
        self.path = Self.absolute(path)
        self.context = context
    }

    package static func absolute(_ path: String) -> String {
        isAbsolute(path) ? path : "\(FileSystem.resolvedPath(".") ?? "")/\(path)"
    }

    static func isAbsolute(_ path: String) -> Bool { path.utf8.first == UInt8(ascii: "/") }
}

/// What settings are looked for and used in. Tests have their own.
package struct SettingsContext: Sendable {
    /// The value of an environment variable; nil if it isn't set.
    package var variable: @Sendable (String) -> String? = { ProcessEnvironment.variable($0) }
    /// The folder in place of `/`, without a slash at its end. The folders above it aren't checked.
    package var root = ""
    package var user = FileSystem.ownUser

    package init() {}
}

/// Why settings, or a program that they name, aren't used.
package struct SettingsError: Error, Equatable, Sendable {
    package enum Code: String, Sendable {
        /// There is no file or folder of this path.
        case missing
        /// It belongs to a user who is neither the caller nor root.
        case foreignOwner
        case writableByOthers
        /// A folder such as /tmp, in which every user can make files.
        case stickyFolder
        case notAFile
        case notAFolder
        /// More than 40 symbolic links, as in a circle.
        case tooManyLinks
        /// Not strict JSON.
        case malformed
        case unknownMember
        /// One of the required members isn't there, or more than one of those that exclude each other.
        case missingMember
        case wrongType
        case empty
        case controlCharacter
        /// Not the name of a file in a folder, or a keyset's name with its suffix.
        case invalidName
        case duplicate
        /// A secret would lie in the served folder, or what must lie outside a keystore in one; keysets are expected of no keystore.
        case conflicting
        /// `CREDENTIALS_DIRECTORY` isn't set.
        case noCredentials
    }

    package let code: Code
    /// The file or folder at fault: the settings, a program, or a folder above one.
    package let path: String
    /// The member at fault, as in `devices.fleet.to` and `expected[2]`; nil if there isn't one.
    package let member: String?
    /// For `malformed`.
    package var json: JSONError?

    init(_ code: Code, _ path: String, _ member: String? = nil, json: JSONError? = nil) {
        self.code = code
        self.path = path
        self.member = member
        self.json = json
    }
}

/// Writing.
extension Settings {
    /// The text of the file. The order of its members is fixed.
    package var json: [UInt8] {
        let members: [(String, String?)] = [
            ("keystores", Self.list(keystores)), ("history", history.map(Self.text)), ("secret", secret?.json),
            ("secrets", secrets.isEmpty ? nil : Self.object(secrets.sorted { $0.key < $1.key }.map { ($0, $1.json) })),
            ("publish", publishTo.map { Self.object([("to", Self.text($0))]) }),
            ("devices", devices.isEmpty ? nil : Self.object(devices.sorted { $0.key < $1.key }.map { ($0, $1.json) })),
            ("after", after.map(Self.text)), ("expected", Self.list(expected)),
        ]
        let lines = members.compactMap { name, value in value.map { "  \"\(name)\": \($0)" } }
        return Array("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
    }

    fileprivate static func text(_ text: String) -> String {
        var output: [UInt8] = []
        JSONWriter.appendString(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private static func list(_ texts: [String]) -> String? {
        texts.isEmpty ? nil : "[\(texts.map(text).joined(separator: ", "))]"
    }

    fileprivate static func object(_ members: [(String, String)]) -> String {
        "{\(members.map { "\(text($0)): \($1)" }.joined(separator: ", "))}"
    }
}

extension Settings.Secret {
    fileprivate var json: String {
        switch self {
        case .file(let path): Settings.object([("file", Settings.text(path))])
        case .command(let path): Settings.object([("command", Settings.text(path))])
        case .credential(let name): Settings.object([("credential", Settings.text(name))])
        }
    }
}

extension Settings.Devices {
    fileprivate var json: String { Settings.object([("list", Settings.text(list)), ("to", Settings.text(to))]) }
}

extension Settings {
    /// The secret of a keyset; nil if the settings name none.
    ///
    /// A command runs with `PUSHCRYPT_KEYSET_ID` and `PUSHCRYPT_KEYSET_NAME` in its environment.
    /// - Throws: `SettingsError` for a program that others could replace, and with `noCredentials`; `KeystoreError` as
    ///   `KeysetSecret.passphraseFile`.
    package func secret(for location: KeysetLocation, id: KeysetID) throws -> KeysetSecret? {
        let own = secrets[location.name]
        let member = own == nil ? "secret" : "secrets.\(location.name)"
        switch own ?? secret {
        case .file(let path): return try .passphraseFile(path)
        case .credential(let name):
            guard let folder = context.variable("CREDENTIALS_DIRECTORY") else {
                throw SettingsError(.noCredentials, path, member + ".credential")
            }
            return try .passphraseFile("\(folder)/\(name)")
        case .command(let program):
            try TrustedPath.check(program, member + ".command", context)
            return KeysetSecret.command(ShellArgument.quoted(program)).of(location, id)
        case nil: return nil
        }
    }

    /// How the program `after` ended.
    package enum ProgramResult: Hashable, Sendable {
        case ended(HelperProcess.Ending)
        /// - Parameter systemError: `errno`, such as ENOEXEC.
        case notStarted(systemError: Int32)
    }

    /// The variables of this process that `after` gets, with `PUSHCRYPT_SETTINGS`, which is the path of the settings. None of
    /// them is a secret.
    package static let variablesOfPrograms = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"]
    /// A program that uploads to several hosts may take a while.
    private static let timeLimitInSeconds = 600

    /// Runs the program `after` without arguments and input. What it prints goes to stderr of this process.
    ///
    /// - Returns: nil if the settings name no program.
    /// - Throws: `SettingsError` for a program that others could replace; `FileError` with `noPermission`.
    package func runAfter(
        now: @escaping () -> ContinuousClock.Instant = { ContinuousClock.now }
    ) throws -> ProgramResult? {
        guard let after else { return nil }
        try TrustedPath.check(after, "after", context)
        var program = HelperProcess.Program(path: after, arguments: [])
        program.inheritsEnvironment = false
        for name in Self.variablesOfPrograms { program.variables[name] = context.variable(name) }
        program.variables["PUSHCRYPT_SETTINGS"] = path
        do throws(FileError) {
            return .ended(
                try HelperProcess.ending(
                    of: program, seconds: Self.timeLimitInSeconds, mayAsk: TerminalDevice() != nil, now: now))
        } catch {
            return .notStarted(systemError: error.systemError)
        }
    }
}
