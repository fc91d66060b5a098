package import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives

/// The host that changes a keyset. Two hosts with copies of one keyset would add different keys, so the keyset remembers who
/// writes it, and another host is refused.
///
/// ```
/// writer = the value of PUSHCRYPT_WRITER, 1 to 64 printable ASCII characters without spaces at its ends
///        | "machine-" || B64(SHA-256("pushcrypt/1 writer" || 0x00 || machine id)[0..<12])
///        | "host-" || B64(SHA-256("pushcrypt/1 writer" || 0x00 || host name)[0..<12]), without a machine id
/// ```
/// The machine id is the content of /etc/machine-id, 32 lower-case hexadecimal digits. It is confidential (machine-id(5)), so the
/// keyset contains a hash. Containers get another name at each start: set PUSHCRYPT_WRITER there.
package enum Writer {
    package static let variable = "PUSHCRYPT_WRITER"
    private static let context = Array("pushcrypt/1 writer".utf8) + [0]

    /// The name of this host.
    ///
    /// - Throws: `KeyError` with `invalidPolicy` for a name that no keyset can have.
    package static func ofThisHost(machineIDFile: String = "/etc/machine-id") throws -> String {
        if let name = ProcessEnvironment.variable(variable) {
            return try checked(name, "the environment variable \(variable)")
        }
        // Containers and macOS have no such file.
        let id = (try? FileSystem.readFile(machineIDFile)).flatMap(machineID)
        return try (id == nil ? "host-" : "machine-") + hash(id ?? Array(ProcessEnvironment.hostName.utf8))
    }

    /// - Returns: nil for bytes that aren't a machine id, such as `uninitialized`.
    private static func machineID(_ file: [UInt8]) -> [UInt8]? {
        let digits = Array(file.prefix { $0 != UInt8(ascii: "\n") })
        return digits.count == 32 && digits.allSatisfy { $0.isOne(of: "0123456789abcdef") } ? digits : nil
    }

    private static func hash(_ name: [UInt8]) throws -> String {
        let input = context + name
        return Base64URL.encode(Array(try DefaultBackend.shared.sha256(input.bytes).prefix(12)))
    }

    package static func checked(_ name: String, _ source: String) throws(KeyError) -> String {
        guard isWriter(name) else {
            throw KeyError(
                .invalidPolicy,
                "\(source): a writer has 1 to 64 printable ASCII characters, without spaces at its ends, as in host-a")
        }
        return name
    }

    /// Whether a keyset can name this writer: 1 to 64 printable ASCII characters, without spaces at its ends.
    private static func isWriter(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && name.first != " "
            && name.last != " "
    }
}
