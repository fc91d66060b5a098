import PushCryptKeystore

extension Writer {
    /// The host that `--writer this|NAME` names.
    static func named(_ option: String) throws -> String {
        guard option == "this" else { return try checked(option, "--writer") }
        guard let own = try ofThisHost() else {
            throw Failure(.usage, "this host has no machine id: set \(variable), or name the host: --writer NAME")
        }
        return own
    }
}
