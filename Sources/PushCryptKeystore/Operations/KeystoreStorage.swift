package import PushCryptCore
package import PushCryptKeysets

/// The files that commands read and write: keysets, the histories of a host, and the served folder.
package protocol KeystoreStorage {
    /// - Returns: nil if there is no file.
    /// - Throws: `KeysetLogError`, also with `notAuthentic`.
    func keyset(_ path: String) throws -> OpenedKeyset?
    /// Replaces a file in one step.
    func replace(_ path: String, with keyset: OpenedKeyset) throws
    func remove(_ path: String) throws
    /// The files with this id in the keystore of a file, this one among them.
    func paths(of id: KeysetID, inKeystoreOf path: String) throws -> [String]
    func history(of id: KeysetID) throws -> KeysetHistory?
    func setHistory(_ history: KeysetHistory) throws
    /// - Returns: nil if there is no file.
    func served(_ name: String) throws -> [UInt8]?
    /// The names of all files in the served folder.
    func servedNames() throws -> [String]
    func serve(_ document: [UInt8], as name: String) throws
}
