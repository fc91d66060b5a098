import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysPolicy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Show or change when the keys of a keyset come and go.",
        discussion: """
            Without a policy option it shows the policy. A longer overlap holds for keys that are retired already, a \
            shorter one only for those to come.
            """)

    @Argument(help: ArgumentHelp("The keyset.", valueName: "Keys/NAME"))
    var path: String

    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        if policyOptions.isEmpty { return try show(change.metadata().policy) }
        try change.make { editor in
            editor.adopt(try policyOptions.policy(over: editor.metadata.policy))
        }
    }

    private func show(_ policy: RotationPolicy) throws {
        if options.json { return try StandardStreams.write(policy.json + "\n") }
        let opens = DurationText.human(policy.opensAfterRetiringInSeconds)
        let rows = [
            ("rotate every", DurationText.human(policy.rotateEveryInSeconds), "how long a key seals"),
            ("publish lead", DurationText.human(policy.publishLeadInSeconds), "published before it seals"),
            ("overlap", DurationText.human(policy.overlapInSeconds), "in effect a retired key opens for \(opens)"),
            ("keep", String(policy.keep), "keys that can open at any time, at least"),
            ("coverage", policy.requiredCoverage?.description ?? "-", "of the devices, before a key may seal"),
        ]
        try StandardStreams.write(
            rows.map { name, value, words in
                name.padded(to: 14) + value.padded(to: 12) + words + "\n"
            }.joined())
    }
}

extension String {
    func padded(to count: Int) -> String {
        self + String(repeating: " ", count: max(count - self.count, 1))
    }
}
