import Testing

/// Options that contradict each other, or that need another one.
@Suite("options that contradict each other", .ownThreads)
struct OptionContradictionTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let arguments: [String]
        /// The options that the message names.
        let names: [String]

        var testDescription: String { arguments.joined(separator: " ") }

        init(_ line: String, _ names: String) {
            arguments = line.split(separator: " ").map {
                $0 == "KID" ? (try? MatrixPlace.kid.get()) ?? "" : String($0)
            }
            self.names = names.split(separator: " ").map(String.init)
        }
    }

    /// Options of which a command accepts one, wherever it has several of them.
    private static let alternatives = [
        ["passphrase-file pass", "wrap-command ./wrap"],
        ["new-passphrase-file pass", "new-wrap-command ./wrap"],
        ["batch", "stream"],
    ]

    /// Every pair of alternatives of every command.
    static let generated: [Case] = ((try? DescribedCommand.all.get()) ?? []).flatMap { path, command in
        let path = path.split(separator: " ").dropFirst().joined(separator: " ")
        return alternatives.flatMap { group in
            let options = group.filter { command.optionNames.contains(String($0.prefix { $0 != " " })) }
            return zip(options, options.dropFirst()).compactMap { pair(of: path, "--" + $0, "--" + $1) }
        }
    }

    /// The command with two options, in place of one of them that it usually has.
    private static func pair(of path: String, _ first: String, _ second: String) -> Case? {
        let names = [first, second].map { String($0.prefix { $0 != " " }) }
        guard let command = MatrixCommand(path)?.without(names[0]) else { return nil }
        return Case(
            (command.arguments + [first, second]).joined(separator: " "), names.joined(separator: " "))
    }

    private static let topic = "--topic com.example.app"

    static let declared: [Case] = [
        Case("seal --to Keys/shared --bare --device a \(topic)", "--bare --device"),
        Case("seal --to Keys/shared --batch --device a \(topic)", "--batch --device"),
        Case("seal --to Keys/shared --batch --show-id \(topic)", "--batch --show-id"),
        Case("seal --to Keys/shared --stream --errors e \(topic)", "--stream --errors"),
        Case("seal --to Keys/shared --stream --resume-from 2 \(topic)", "--stream --resume-from"),
        Case("seal --to Keys/shared --recipients r \(topic)", "--recipients --batch"),
        Case("seal --to Keys/shared --jobs 2 \(topic)", "--jobs --batch"),
        Case("open --keys Keys/shared --pins pins.json \(topic)", "--pins --trust"),
        Case("open --keys Keys/shared --batch --device a \(topic)", "--batch --device"),
        Case("open --keys Keys/shared --batch --fallback outer \(topic)", "--batch --fallback"),
        Case("open --keys Keys/shared --errors e \(topic)", "--errors --batch"),
        Case("inspect --trust senders.json", "--trust --keys"), Case("inspect --device a", "--device --keys"),
        Case("inspect --passphrase-file pass", "--passphrase-file --keys"),
        Case("inspect --pins pins.json", "--pins --trust"), Case("inspect --topic a.b", "--topic --keys"),
        Case("blob seal --reference r --purpose payload --type a/b", "--purpose --type"),
        Case("blob seal --reference r --output r --type a/b", "--reference --output"),
        Case("keys export Keys/shared --registration --device a", "--registration --device"),
        Case("keys export Keys/shared --device a --format pem", "--device --format"),
        Case("keys export Keys/sender --pins --private", "--pins --private"),
        Case("keys export Keys/sender --epoch 1", "--epoch --pins"),
        Case("keys export Keys/sender --publisher Keys/publisher", "--publisher --pins"),
        Case("keys export Keys/sender --insecure-plaintext", "--insecure-plaintext --private"),
        Case(
            "keys export Keys/sender --private --format pem --insecure-plaintext --new-passphrase-file pass",
            "--insecure-plaintext --new-passphrase-file"),
        Case("keys create Keys/new --kind sender --psk --insecure-plaintext", "--psk --kind"),
        Case("keys create Keys/new --kind shared --suite p256 --insecure-plaintext", "--suite --kind"),
        Case("keys create Keys/new --kind publisher --keep 3 --insecure-plaintext", "policy"),
        Case(
            "keys create Keys/new --kind shared --insecure-plaintext --passphrase-file pass",
            "--insecure-plaintext --passphrase-file"),
        Case("keys import Keys/new key.jwk --kind sender --suite p256", "--suite --kind"),
        Case("keys policy Keys/sender --epoch 2", "--epoch --publisher"),
        Case("keys policy Keys/sender --publisher Keys/publisher", "--epoch --publisher"),
        Case("keys secret list Keys/sender --all", "--all"),
        Case(
            "keys secret set Keys/sender --insecure-plaintext --new-passphrase-file pass",
            "--insecure-plaintext --new-passphrase-file"),
        Case("rotate --now", "--now KEYSET"), Case("rotate Keys/recipient --at-once", "--at-once --now"),
        Case("rotate Keys/recipient --suite p256", "--suite --now"),
        Case("publish Keys/sender Keys/shared --unsigned new", "--unsigned KEYSET"),
        Case("publish Keys/sender --sign unsigned", "--sign KEYSET"), Case("publish --sign unsigned", "--sign --to"),
        Case("restore --over", "KEYSET"),
    ]

    @Test("both options are named, and no file changes", arguments: [generated, declared])
    func refused(_ cases: [Case]) throws {
        #expect(cases.count > 20)
        let place = try MatrixPlace()
        for mistake in cases {
            let output = try place.run(mistake.arguments, stdin: "payload.json")
            let label: Comment = "\(mistake.testDescription): \(output)"
            #expect(output.exit == 64 && output.stdout.isEmpty, label)
            #expect(mistake.names.allSatisfy(output.stderr.contains), label)
        }
        #expect(try place.isUnchanged)
    }
}
