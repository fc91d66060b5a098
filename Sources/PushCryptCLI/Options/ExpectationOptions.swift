import ArgumentParser
import PushCryptCore
import PushCryptKeysets

/// What a host that records a keyset's seq or head in another place knows of it. Each keyset of the command must meet it.
struct ExpectationOptions: ParsableArguments {
    @Option(help: .init("Refuse a keyset with a lower seq: an earlier copy.", "N")) var expectSeq: Int64?
    // A hash and a key's id may begin with a minus sign.
    @Option(
        parsing: .unconditional,
        help: .init("Refuse a keyset whose audit log has another head, as in `keys log --verify`.", "HASH"))
    var expectHead: HeadArgument?

    var state: ExpectedState { ExpectedState(sequence: expectSeq, head: expectHead?.hash) }
}

/// The hash of a line of an audit log, in base64url.
struct HeadArgument: ExpressibleByArgument {
    let hash: [UInt8]

    init?(argument: String) {
        guard let hash = Base64URL.decode(Array(argument.utf8)[...]), hash.count == AuditHead.hashByteCount else {
            return nil
        }
        self.hash = hash
    }
}
