/// A command line that succeeds, into which the matrix puts a mistake.
struct MatrixCommand {
    let path: String
    var positionals: [String]
    var options: [String]
    var stdin: String?

    var arguments: [String] { path.split(separator: " ").map(String.init) + positionals + options }

    /// - Returns: nil for a command that the table lacks.
    init?(_ path: String) {
        guard let line = Self.lines[path] else { return nil }
        self.init(path, line)
    }

    /// A command line with which an option of the command has an effect.
    init?(_ path: String, for option: String) {
        guard let usual = Self.lines[path] else { return nil }
        let line = Self.linesByOption["\(path) \(option)"]
        self.init(path, line ?? Self.secretLine(usual, option) ?? usual + (Self.companions[option] ?? ""))
    }

    private init(_ path: String, _ line: String) {
        self.path = path
        let words = line.split(separator: " ").map {
            $0 == "KID" ? (try? MatrixPlace.kid.get()) ?? "" : $0 == "NOW" ? MatrixPlace.now : String($0)
        }
        let end = words.firstIndex { $0.hasPrefix("--") } ?? words.endIndex
        (positionals, options) = (Array(words[..<end]), Array(words[end...]))
        stdin = Self.stdins[path]
    }

    /// The options of a keyset's secret need an encrypted keyset.
    private static func secretLine(_ line: String, _ option: String) -> String? {
        guard ["--passphrase-file", "--wrap-command"].contains(option) else { return nil }
        return line.replacing("Keys/new", with: "New").replacing("Keys/", with: "Sealed/")
            .replacing("New", with: "Keys/new").replacing(" --insecure-plaintext", with: "")
            .replacing(" --passphrase-file pass", with: "")
    }

    /// The options without the given one and its value.
    func without(_ option: String) -> MatrixCommand {
        var result = self
        while let index = result.options.firstIndex(of: option) { result.options.removeSubrange(index...index + 1) }
        return result
    }

    private static let topic = "--topic \(Workplace.topic) --at NOW"

    /// The arguments with which each command succeeds, positional ones first.
    private static let lines: [String: String] = [
        "demo": "", "seal": "--to Keys/recipient \(topic)", "open": "--keys Keys/recipient \(topic)",
        "reseal": "--keys Keys/shared --errors refused.jsonl \(topic)",
        "registrations": "--sign-with Keys/sender --stream \(topic)",
        "blob seal": "--reference new.json --type image/png",
        "blob open": "--reference reference.json --output plain --from blob",
        "recipients check": "recipients.db", "recipients import": "records.jsonl --into new.db",
        "inspect": "--at NOW", "simulate": "--keys Keys/recipient \(topic)", "diagnose": topic,
        "init": "--settings new.json --keystore New --publisher-keystore Publisher --history history --publish-to www "
            + "--pins new-pins.json --insecure-plaintext --yes \(topic)",
        "keys list": "Keys/recipient --at NOW", "keys log": "Keys/recipient",
        "keys coverage": "Keys/recipient --reports reports.jsonl --at NOW",
        "keys rehearse": "Keys/recipient --refresh-p50 1h --refresh-p99 2h --devices 50",
        "keys create": "Keys/new --kind recipient --insecure-plaintext",
        "keys import": "Keys/new key.jwk --insecure-plaintext", "keys export": "Keys/recipient --at NOW",
        "keys policy": "Keys/recipient --at NOW", "keys destroy": "Keys/recipient KID --yes --at NOW",
        "keys secret list": "Sealed/two",
        "keys secret add": "Sealed/sender --name x --passphrase-file pass --new-passphrase-file new.pass --at NOW",
        "keys secret set": "Keys/recipient --new-passphrase-file new.pass --at NOW",
        "keys secret remove": "Sealed/two --name safe --passphrase-file pass --at NOW",
        "rotate": "Keys/recipient --at NOW", "publish": "Keys/sender --to www --publisher Keys/publisher --at NOW",
        "revoke": "Keys/recipient KID --yes --at NOW", "restore": "Keys/recipient copy.keyset --at NOW",
        "status": "--settings pushcrypt.json --at NOW", "migrate": "",
    ]

    private static let stdins = [
        "seal": "payload.json", "blob seal": "payload.json", "open": "outer.json", "inspect": "outer.json",
        "simulate": "outer.json", "diagnose": "outer.json", "reseal": "queue.jsonl", "migrate": "payload.json",
    ]

    /// What an option needs beside it, in every command that has it.
    private static let companions = [
        "--pins": " --trust signed.json", "--recipients": " --batch",
    ]

    /// The arguments for one option of one command, without it, where the usual ones don't do.
    private static let linesByOption = [
        "keys export --new-passphrase-file": "Keys/sender --private --format pem",
        "seal --errors": "--batch --to Keys/recipient \(topic)",
        "open --errors": "--batch --keys Keys/recipient \(topic)",
        "blob seal --id": "--reference new.json --type image/png",
        "inspect --keys": topic, "inspect --topic": "--keys Keys/recipient --at NOW",
        "inspect --device": "--keys Keys/shared \(topic)", "inspect --trust": "--keys Keys/recipient \(topic)",
        "inspect --pins": "--keys Keys/recipient --trust signed.json \(topic)",
        "inspect --passphrase-file": "--keys Sealed/recipient \(topic)",
        "keys list --pins": "signed.json --at NOW",
        "keys import --key-passphrase-file": "Keys/new key.pem --insecure-plaintext",
        "keys export --device": "Keys/shared --at NOW",
        "keys export --epoch": "Keys/sender --pins --publisher Keys/publisher --at NOW",
        "keys export --publisher": "Keys/sender --pins --at NOW",
        "keys policy --passphrase-file": "Sealed/recipient --keep 3 --at NOW",
        "keys policy --publisher": "Keys/sender --epoch 2 --at NOW",
        "keys policy --epoch": "Keys/sender --publisher Keys/publisher --at NOW",
        "keys secret set --remaining-passphrase-file":
            "Sealed/two --name passphrase --passphrase-file pass --new-passphrase-file new.pass --at NOW",
        "publish --unsigned": "Keys/sender --at NOW",
        "publish --sign": "--to www --publisher Keys/publisher --yes --at NOW",
        "rotate --suite": "Keys/recipient --now --at NOW",
        "status --passphrase-file": "--long --settings pushcrypt.json --at NOW",
    ]
}
