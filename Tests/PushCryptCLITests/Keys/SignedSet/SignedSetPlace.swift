import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A keystore with a publisher keyset and a sender keyset, whose set was published at `Workplace.now` for 60 days.
struct SignedSetPlace {
    let place: Workplace

    /// - Parameter secrets: the passphrases of the publisher and the sender keyset; nil for plain keys.
    init(secrets: (publisher: String, sender: String)? = nil) throws {
        place = try Workplace()
        try create("Keys/publisher", .publisher, secrets?.publisher)
        try create("Keys/senders", .sender, secrets?.sender)
    }

    private func create(_ path: String, _ kind: KeyKind, _ passphrase: String?) throws {
        let time = try #require(UnixTime(rfc3339: Workplace.now))
        let secret = passphrase.map { KeysetSecret.passphrase(SecretBytes(copying: Array($0.utf8).bytes)) }
        let protection: Protection = secret == nil ? .plaintext : .passphrase(EncryptedPlace.cheap)
        _ = try place.make(path, kind, protection, secret, at: time)
        if let passphrase { try place.write(Data(passphrase.utf8), to: kind.rawValue + ".pass") }
        guard kind == .sender else { return }
        let store = KeysetStore(place.folder.file(path).path)
        _ = try store.change(at: time, by: Actor(name: "tester", reason: nil, writer: CLI.writer), SecretSource(secret))
        { editor in
            try editor.publish(topics: [Topic(Workplace.topic)], epoch: nil, validForInSeconds: nil)
        }
    }

    /// Runs `keys export Keys/senders --signed-by Keys/publisher`.
    func export(_ options: String..., at time: String = Workplace.now) throws -> Output {
        try place.run(["keys", "export", "Keys/senders", "--signed-by", "Keys/publisher", "--at", time] + options)
    }

    /// Writes the signed set to `set` and the pins to `pins`.
    func publish(at time: String = Workplace.now) throws {
        let document = try export(at: time)
        try #require(document.isSuccess, "\(document)")
        try place.write(document.stdout, to: "set")
        try place.export("Keys/publisher", to: "pins", "--pins-for", "Keys/senders")
    }

    /// The key of `Keys/publisher` or `Keys/senders`.
    func kid(_ path: String) throws -> String { try #require(try place.keys(path, at: Workplace.now).first).kid }

    /// The time this many days after the publication.
    static func day(_ day: Int) -> String { Workplace.later(day * Workplace.days) }
}

typealias ServedFinding = (code: String, message: String, advice: String)

extension Workplace {
    /// What `keys doctor` finds in the served sets of `www`.
    func servedFindings(day: Int, _ options: String...) throws -> [ServedFinding] {
        try servedFindings(day: day, options)
    }

    func servedFindings(day: Int, _ options: [String]) throws -> [ServedFinding] {
        try settle("Keys")
        let command = ["keys", "doctor", "Keys", "--served", "www", "--json", "--at", SignedSetPlace.day(day)]
        let output = try run(command + options)
        let found = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
        return found.filter { $0["code"]?.hasPrefix("served-") == true }.map {
            ($0["code"] ?? "", $0["message"] ?? "", $0["advice"] ?? "")
        }
    }
}
