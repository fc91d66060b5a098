import PushCryptKeysets

/// What to do about what `keys verify` and `keys doctor` find, in the same words.
extension Verification {
    static let restore = "restore a copy from before"
    static let sayTheSecret = "say --passphrase-file, --passphrase-fd or --wrap-command"

    static func verify(_ snapshot: KeysetSnapshot) -> String {
        "pushcrypt keys verify \(ShellWord.quoted(snapshot.path))"
    }

    static func beginAnew(_ snapshot: KeysetSnapshot) -> String {
        "pushcrypt keys log \(ShellWord.quoted(snapshot.path)) --begin-anew --reason WHY  # when you know why"
    }
}

extension PublicCondition {
    /// What is wrong and what to do; of one that isn't wrong, its name.
    func words(_ snapshot: KeysetSnapshot) -> (message: String, advice: String) {
        let name = KeysetFolder.publicName
        let verify = Verification.verify(snapshot)
        switch self {
        case .missing: return ("\(name) is missing", verify)
        case .stale(let sequence):
            return ("\(name) is of an earlier change, seq \(sequence)", verify)
        case .newer(let sequence):
            return (
                "\(name) is of a later change, seq \(sequence): the keyset is an old copy",
                "restore the newest copy; keys that were made since are lost without it"
            )
        case .foreign(let flaw):
            let file = ShellWord.quoted(snapshot.path + "/" + name)
            return (
                "\(name) is not what the keyset gives: \(flaw)",
                "rm \(file) && \(verify)  # when you know who changed it"
            )
        case .unneeded, .whole, .plausible: return ("\(self)", "")
        }
    }
}
