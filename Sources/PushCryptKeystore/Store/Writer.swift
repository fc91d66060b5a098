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
/// ```
/// The machine id is the content of /etc/machine-id, 32 lower-case hexadecimal digits. It is confidential (machine-id(5)), so the
/// keyset contains a hash. Containers have different machine ids, or none: set PUSHCRYPT_WRITER there.
package enum Writer {
    package static let variable = "PUSHCRYPT_WRITER"
    private static let context = Array("pushcrypt/1 writer".utf8) + [0]

    /// The name of this host; nil if the variable isn't set and the host has no machine id.
    ///
    /// - Throws: `KeyError` with `invalidPolicy` for a name that no keyset can have.
    package static func ofThisHost(machineIDFile: String = "/etc/machine-id") throws -> String? {
        if let name = ProcessEnvironment.variable(variable) {
            return try checked(name, "the environment variable \(variable)")
        }
        return try (try? FileSystem.readFile(machineIDFile)).flatMap(machine)
    }

    /// - Returns: nil for bytes that aren't a machine id, such as `uninitialized`.
    static func machine(_ id: [UInt8]) throws -> String? {
        let digits = id.prefix { $0 != UInt8(ascii: "\n") }
        guard digits.count == 32, digits.allSatisfy({ $0.isOne(of: "0123456789abcdef") }) else { return nil }
        let input = context + digits
        let hash = try DefaultBackend.shared.sha256(input.bytes)
        return "machine-" + Base64URL.encode(Array(hash.prefix(12)))
    }

    /// Why a host doesn't change a keyset; nil if it may.
    ///
    /// - Parameters:
    ///   - recorded: the host that the keyset records, if it records one.
    ///   - own: the name of this host, if it has one.
    package static func refusal(_ recorded: String?, own: String?) -> String? {
        guard let recorded, recorded != own else { return nil }
        return
            "\(recorded) changes this keyset, and \(own.map { "this is \($0)" } ?? "this host has no name: set \(variable)")"
    }

    /// Refuses a change on another host than the one that the keyset records, if it records one.
    ///
    /// - Parameter remedy: how this host takes the keyset over; nil for `keys policy`.
    /// - Throws: `LifecycleError` with `blocked`.
    static func require(
        _ recorded: String?, _ actor: Actor, _ path: String, remedy: String? = nil
    ) throws(LifecycleError) {
        guard let refusal = refusal(recorded, own: actor.writer) else { return }
        let policy = "run: `pushcrypt keys policy \(ShellArgument.quoted(path)) --writer this\(actor.secretArguments)`"
        throw LifecycleError(
            .blocked,
            "\(refusal). Two hosts that change copies make different keys. If this host shall change it from now on, first stop "
                + "the other one, then \(remedy ?? policy)"
        )
    }

    package static func checked(_ name: String, _ source: String) throws(KeyError) -> String {
        guard KeysetMetadata.isWriter(name) else {
            throw KeyError(
                .invalidPolicy,
                "\(source): a writer has 1 to 64 printable ASCII characters, without spaces at its ends, as in host-a")
        }
        return name
    }
}
