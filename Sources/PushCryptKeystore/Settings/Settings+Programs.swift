package import PushCryptFiles
package import PushCryptKeysets

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
