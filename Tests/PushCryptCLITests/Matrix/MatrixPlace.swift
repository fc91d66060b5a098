import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The files of the commands in the matrix: `Keys` in plain text, `Sealed` with the same keysets encrypted, and an input of each
/// kind.
///
/// Three folders have copies of all of them. Other users can read those in `loose`, another user owns those in `foreign`, and
/// only root can read those in `unreadable`.
struct MatrixPlace {
    let place: Workplace
    private let before: [String: Data]

    static let now = Workplace.now
    /// The id of a key that doesn't seal yet.
    static let kid = base.map(\.kid)

    /// A copy of the files, with which a command runs.
    init() throws {
        place = try Workplace()
        let copied = try place.shell("cp -a '\(Self.base.get().place.folder.path)/.' .")
        try #require(copied.isSuccess, "\(copied)")
        before = try Self.state(of: place)
    }

    /// Runs the tool as a user who owns the files and isn't root, for whom every permission counts.
    func run(_ arguments: [String], stdin: String?) throws -> Output {
        let words = arguments.map { $0.hasPrefix("-") ? $0 : ShellArgument.quoted($0) }
        let input = stdin.map { " < \($0)" } ?? ""
        return try place.shell(#"exec \#(Unprivileged.prefix) "$PUSHCRYPT" \#(words.joined(separator: " "))\#(input)"#)
    }

    /// Whether both keystores and the names of all other files are as at the start.
    var isUnchanged: Bool { get throws { try Self.state(of: place) == before } }

    private static func state(of place: Workplace) throws -> [String: Data] {
        let keystores = try ["Keys", "Sealed"].map { try place.contents(of: $0) }
        return keystores[0].merging(keystores[1].map { ("Sealed/" + $0, $1) }) { $1 }
            .merging(try place.names().map { ("./" + $0, Data()) }) { $1 }
    }

    private static let base = Result(catching: makeBase)

    private static func makeBase() throws -> (place: Workplace, kid: String) {
        let place = try Workplace()
        for script in [keys, inputs, copies] {
            let output = try place.shell("set -e; p=\"$PUSHCRYPT\"; topic=\(Workplace.topic); now=\(now)\n" + script)
            try #require(output.exit == 0, "\(output)")
        }
        let pending = try place.keys("Keys/recipient", at: now).last { $0.state == "pending" }
        let kid = try #require(pending).kid
        // An id that begins with a dash would look like an option.
        guard !kid.hasPrefix("-") else { return try makeBase() }
        try place.giveAway()
        if geteuid() == 0 { _ = try place.shell("chown -R 65533 foreign") }
        return (place, kid)
    }

    private static let keys = """
        umask 077
        printf 'correct horse' > pass
        printf 'another horse' > new.pass
        for kind in recipient sender publisher shared; do
            "$p" keys create Keys/$kind --kind $kind --insecure-plaintext --at 2026-01-01T00:00:00Z
        done
        "$p" keys policy Keys/sender --topic $topic --epoch 1 --publisher Keys/publisher --at 2026-02-01T00:00:00Z
        "$p" rotate Keys/recipient --now --at 2026-02-01T00:00:00Z
        "$p" rotate Keys/recipient --now --at 2026-02-28T00:00:00Z
        cp -Rp Keys Sealed
        "$p" keys secret set Sealed/recipient Sealed/sender Sealed/publisher Sealed/shared --new-passphrase-file pass --at $now
        "$p" keys create Sealed/two --kind sender --passphrase-file pass --at $now
        "$p" keys secret add Sealed/two --name safe --passphrase-file pass --new-passphrase-file new.pass --at $now
        cp Keys/recipient.keyset copy.keyset
        """

    private static let inputs = #"""
        umask 077
        mkdir www app folder history
        printf '<plist version="1.0"><dict/></plist>' > app/Info.plist
        echo '{"aps":{"alert":{"title":"Results","body":"All clear."},"badge":2}}' > payload.json
        "$p" keys export Keys/recipient --registration > record.json
        "$p" keys export Keys/sender > senders.json
        "$p" keys export Keys/sender --format jwk --private --insecure-plaintext > key.jwk
        "$p" keys export Keys/sender --format pem --private --new-passphrase-file pass > key.pem
        "$p" publish Keys/sender --to www --publisher Keys/publisher --at $now
        cp www/*.1.json signed.json
        "$p" publish Keys/sender --unsigned unsigned --at $now
        "$p" keys export Keys/sender --pins --publisher Keys/publisher --at $now > pins.json
        "$p" seal --to Keys/recipient --topic $topic --at $now payload.json > outer.json
        printf '{"payload":%s}\n' "$("$p" seal --to Keys/shared --bare --topic $topic --at $now payload.json)" > queue.jsonl
        "$p" recipients import record.json --into recipients.db
        cp record.json records.jsonl
        "$p" blob seal --reference reference.json --type image/png --url https://example.com/a --from payload.json --output blob
        "$p" blob seal --reference offload.json --purpose payload --url https://example.com/b --from payload.json --output b
        printf '{"device":"d","kid":"%s","seenAt":"%s"}\n' "$(sed 's/.*"kid":"\([^"]*\)".*/\1/' record.json)" $now > reports.jsonl
        echo '{":status":"200","apns-topic":"com.example.app"}' > headers.json
        echo '[]' > categories.json
        echo '{}' > strings.json
        echo '{}' > report.json
        printf '#!/bin/sh\n' > wrap
        chmod 700 wrap
        echo '{"keystores":["Sealed"],"history":"history","secret":{"file":"pass"}}' > pushcrypt.json
        "$p" rotate --settings pushcrypt.json --at $now
        """#

    private static let copies = """
        files=$(ls -A)
        mkdir loose foreign unreadable
        for copy in loose foreign unreadable; do cp -Rp $files $copy/; done
        chmod -R go+rX loose foreign
        chmod -R go= $files
        find unreadable -type f -exec chmod 000 {} +
        : > empty
        truncate -s 65M huge
        mkdir -m 500 locked
        chmod 600 empty huge
        """
}
