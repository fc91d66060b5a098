import PushCryptFiles

/// What an option or an argument takes: the facts that the tool's description of itself doesn't have.
struct ValueRule {
    enum Kind {
        /// A value that not every text is.
        case parsed
        /// Every text is a value of it.
        case text
        case passphraseFile
        /// A keyset, or a file with private keys.
        case keyset
        /// A file with secrets that only its owner may reach.
        case secretFile
        /// A file with a private key, which must have a content, and which only its owner may reach.
        case privateKey
        /// A file that other users may read, which must have a content.
        case input
        /// A file that is read like stdin, and must have a content.
        case payload
        /// A registration record, about which a diagnosis is printed.
        case record
        /// A file or a folder with public keys.
        case publicKeys
        /// A file that may be empty and may have any length.
        case lines
        /// A file that must not exist.
        case newFile
        /// A file that is replaced if it exists.
        case replacedFile
        case folder
        case keystore
        case newKeyset
    }

    let kind: Kind
    /// A value that is accepted.
    let example: String

    init(_ kind: Kind, _ example: String) { (self.kind, self.example) = (kind, example) }

    /// The rule of an argument of the command `path`.
    ///
    /// - Returns: nil if the tables below lack it: add its option to `byOption`, or its value name to `byValueName`.
    static func rule(for argument: DescribedCommand.Argument, of path: String) -> ValueRule? {
        let valueName = argument.valueName ?? ""
        if let rule = byOption["\(path) \(argument.name)"] ?? byOption[argument.name] { return rule }
        if let rule = byValueName[valueName] { return rule }
        let choices = valueName.split(separator: "|")
        guard choices.count > 1, choices.allSatisfy({ $0.first?.isLowercase == true }) else { return nil }
        return ValueRule(.parsed, String(choices[0]))
    }

    private static let byValueName: [String: ValueRule] = [
        "N": .init(.parsed, "1"), "LINE": .init(.parsed, "1"), "TIME": .init(.parsed, Workplace.now),
        "DURATION": .init(.parsed, "10d"), "HASH": .init(.parsed, String(repeating: "A", count: 43)),
        "KID": .init(.parsed, (try? MatrixPlace.kid.get()) ?? ""), "PERCENT": .init(.parsed, "99%"),
        "PERCENT|none": .init(.parsed, "99%"), "SHARE": .init(.parsed, "2%"), "NUMBER": .init(.parsed, "3"),
        "SIZE": .init(.parsed, "24MiB"), "N|max|none": .init(.parsed, "128"), "TOPIC": .init(.parsed, Workplace.topic),
        "URL": .init(.parsed, "https://example.com/a"), "URL=FILE": .init(.parsed, "https://example.com/a=blob"),
        "TYPE": .init(.parsed, "image/png"), "PATH": .init(.parsed, "./hook"),
        "TEXT": .init(.text, "because"), "T": .init(.text, "Title"), "B": .init(.text, "Body"),
        "K": .init(.text, "KEY"),
        "CAMPAIGN": .init(.text, "spring"), "CODE": .init(.text, "plain-text"), "COMMAND": .init(.text, "./wrap"),
        "ARGUMENT": .init(.text, "x"), "LANGUAGE": .init(.text, "de"), "this|NAME": .init(.text, "this"),
        "Keys/NAME": .init(.keyset, "Keys/recipient"), "FILE|Keys/NAME": .init(.keyset, "Keys/recipient"),
        "Keys/NAME|FILE": .init(.keyset, "Keys/recipient"), "Keys/NAME|FILE|Keys": .init(.keyset, "Keys/recipient"),
        "Keys": .init(.keystore, "Sealed"), "FILE|none": .init(.publicKeys, "senders.json"),
    ]

    private static let byOption: [String: ValueRule] = [
        "--picture": .init(.replacedFile, "out.svg"), "simulate --picture": .init(.replacedFile, "out.html"),
        "--device": .init(.parsed, "one"), "--retract": .init(.parsed, String(repeating: "A", count: 22)),
        "--id": .init(.parsed, "scan"), "--simulator-bundle": .init(.parsed, "com.example.app"),
        "--expose": .init(.text, "badge"), "--foreground": .init(.parsed, "list"), "--name": .init(.parsed, "safe"),
        "--first-name": .init(.parsed, "first"), "--as": .init(.text, "set"), "--app-name": .init(.text, "App"),
        "--attachment-member": .init(.text, "image"), "--time-zone": .init(.text, "UTC"),
        "--passphrase-file": .init(.passphraseFile, "pass"),
        "--new-passphrase-file": .init(.passphraseFile, "new.pass"),
        "--key-passphrase-file": .init(.passphraseFile, "pass"),
        "--export-passphrase-file": .init(.passphraseFile, "pass"),
        "--publisher-passphrase-file": .init(.passphraseFile, "pass"),
        "--backup-passphrase-file": .init(.passphraseFile, "pass"),
        "--remaining-passphrase-file": .init(.passphraseFile, "new.pass"),
        "--sign-with": .init(.keyset, "Keys/sender"), "--signed-by": .init(.keyset, "Keys/publisher"),
        "--pins-for": .init(.keyset, "Keys/sender"), "reseal --keys": .init(.keyset, "Keys/shared"),
        "recipients check <FILE>": .init(.secretFile, "recipients.db"),
        "--recipients": .init(.secretFile, "recipients.db"),
        "recipients import <FILE>": .init(.secretFile, "records.jsonl"),
        "seal <FILE>": .init(.payload, "payload.json"), "open <FILE>": .init(.payload, "outer.json"),
        "inspect <FILE>": .init(.payload, "outer.json"), "simulate <FILE>": .init(.payload, "outer.json"),
        "diagnose <FILE>": .init(.payload, "outer.json"), "--attach": .init(.input, "reference.json"),
        "--offload": .init(.input, "offload.json"), "--trust": .init(.publicKeys, "senders.json"),
        "--pins": .init(.input, "pins.json"), "blob open --reference": .init(.input, "reference.json"),
        "blob open --from": .init(.payload, "blob"), "--registration": .init(.record, "record.json"),
        "--headers": .init(.input, "headers.json"), "--report": .init(.input, "report.json"),
        "--categories": .init(.input, "categories.json"), "--strings": .init(.input, "strings.json"),
        "--fleet": .init(.input, "fleet.json"), "keys import --from": .init(.privateKey, "key.jwk"),
        "keys restore --from": .init(.input, "keys.backup"), "--reports": .init(.lines, "reports.jsonl"),
        "keys export --devices": .init(.lines, "devices.txt"), "blob seal --from": .init(.lines, "payload.json"),
        "--errors": .init(.newFile, "refused.jsonl"), "blob seal --reference": .init(.newFile, "new.json"),
        "--output": .init(.newFile, "plain"), "keys backup --to": .init(.newFile, "new.backup"),
        "--prometheus": .init(.replacedFile, "status.prom"), "recipients import --into": .init(.replacedFile, "new.db"),
        "seal --to": .init(.keyset, "Keys/recipient"), "keys publish --to": .init(.folder, "www"),
        "--served": .init(.folder, "www"),
        "--app": .init(.folder, "app"), "keys restore --into": .init(.text, "Sealed"),
        "keys create <Keys/NAME>": .init(.newKeyset, "Keys/new"),
        "keys import <Keys/NAME>": .init(.newKeyset, "Keys/new"),
        "rotate <Keys/NAME>": .init(.keyset, "Keys/recipient"), "status <Keys>": .init(.keystore, "Sealed"),
    ]
}
