import PushCryptFiles

/// What an option or an argument takes: the facts that the tool's description of itself doesn't have.
struct ValueRule {
    enum Kind {
        /// A value that not every text is.
        case parsed
        /// Every text is a value of it.
        case text
        case passphraseFile
        case keyset
        /// A keyset, which may be missing, or a file to restore it from.
        case restored
        /// A file with private keys, or a keyset, that is only read.
        case keys
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
        /// A file with public keys.
        case publicKeys
        /// A file that may be empty and may have any length.
        case lines
        /// A file that must not exist.
        case newFile
        /// A file that is replaced if it exists.
        case replacedFile
        case folder
        /// The folder of a web server: the next run of `rotate` tries again.
        case servedFolder
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
        "DURATION": .init(.parsed, "10d"), "KID": .init(.parsed, (try? MatrixPlace.kid.get()) ?? ""),
        "PERCENT|none": .init(.parsed, "99%"), "SHARE": .init(.parsed, "2%"),
        "SIZE": .init(.parsed, "24MiB"), "N|max|none": .init(.parsed, "128"), "TOPIC": .init(.parsed, Workplace.topic),
        "URL": .init(.parsed, "https://example.com/a"), "URL=FILE": .init(.parsed, "https://example.com/a=blob"),
        "TYPE": .init(.parsed, "image/png"), "T": .init(.text, "Title"), "B": .init(.text, "Body"),
        "K": .init(.text, "KEY"), "CAMPAIGN": .init(.text, "spring"), "COMMAND": .init(.text, "./wrap"),
        "LANGUAGE": .init(.text, "de"), "Keys/NAME": .init(.keyset, "Keys/recipient"),
        "FILE|Keys/NAME": .init(.keys, "Keys/recipient"), "Keys|Keys/NAME|FILE": .init(.keyset, "Keys/recipient"),
        "KEYSET": .init(.keyset, "Keys/recipient"), "KEYSET|ID": .init(.keyset, "Keys/publisher"),
        "KEYSET|FILE": .init(.restored, "Keys/recipient"),
    ]

    private static let byOption: [String: ValueRule] = [
        "--collapse-id": .init(.text, "order"),
        "--picture": .init(.replacedFile, "out.html"),
        "--device": .init(.parsed, "one"), "--retract": .init(.parsed, String(repeating: "A", count: 22)),
        "--id": .init(.parsed, "scan"),
        "--expose": .init(.text, "badge"), "--name": .init(.parsed, "safe"),
        "--attachment-member": .init(.text, "image"),
        "--valid-for": .init(.parsed, "20d"),
        "--passphrase-file": .init(.passphraseFile, "pass"),
        "--new-passphrase-file": .init(.passphraseFile, "new.pass"),
        "--key-passphrase-file": .init(.passphraseFile, "pass"),
        "--remaining-passphrase-file": .init(.passphraseFile, "new.pass"),
        "--sign-with": .init(.keys, "Keys/sender"), "--publisher": .init(.keyset, "Keys/publisher"),
        "reseal --keys": .init(.keys, "Keys/shared"), "publish <KEYSET>": .init(.keyset, "Keys/sender"),
        "recipients check <FILE>": .init(.secretFile, "recipients.db"),
        "--recipients": .init(.secretFile, "recipients.db"),
        "recipients import <FILE>": .init(.secretFile, "records.jsonl"),
        "seal <FILE>": .init(.payload, "payload.json"), "open <FILE>": .init(.payload, "outer.json"),
        "inspect <FILE>": .init(.payload, "outer.json"), "simulate <FILE>": .init(.payload, "outer.json"),
        "diagnose <FILE>": .init(.payload, "outer.json"), "migrate <FILE>": .init(.lines, "payload.json"),
        "--attach": .init(.input, "reference.json"),
        "--offload": .init(.input, "offload.json"), "--trust": .init(.publicKeys, "senders.json"),
        "--pins": .init(.input, "pins.json"), "blob open --reference": .init(.input, "reference.json"),
        "blob open --from": .init(.payload, "blob"), "--registration": .init(.record, "record.json"),
        "--headers": .init(.input, "headers.json"), "--report": .init(.input, "report.json"),
        "--strings": .init(.input, "strings.json"),
        "keys import <FILE|->": .init(.privateKey, "key.jwk"),
        "--reports": .init(.lines, "reports.jsonl"), "blob seal --from": .init(.lines, "payload.json"),
        "--sign": .init(.input, "unsigned"), "--unsigned": .init(.replacedFile, "new.unsigned"),
        "--errors": .init(.newFile, "refused.jsonl"), "blob seal --reference": .init(.newFile, "new.json"),
        "--output": .init(.newFile, "plain"), "--prometheus": .init(.replacedFile, "status.prom"),
        "recipients import --into": .init(.replacedFile, "new.db"), "publish --to": .init(.servedFolder, "www"),
        "--app": .init(.folder, "app"), "keys create <Keys/NAME>": .init(.newKeyset, "Keys/new"),
        "keys import <KEYSET>": .init(.newKeyset, "Keys/new"),
        "keys secret list <KEYSET>": .init(.keyset, "Sealed/two"),
        "init --pins": .init(.text, "new-pins.json"), "init --keystore": .init(.text, "New"),
        "init --publisher-keystore": .init(.text, "Publisher"), "init --publish-to": .init(.text, "www"),
        "init --sender": .init(.text, "a"), "init --recipient": .init(.text, "a"), "init --shared": .init(.text, "a"),
    ]
}
