import Foundation
import PushCryptTestSupport
import Testing

/// A served set says which publisher keys have signed it. A keyset of publishers with others is an old copy, or a newer one.
@Suite("a publisher keyset and the signatures of the served set", .ownThreads)
struct PublisherCopyTests {
    private let place: Workplace
    private let first, second: String

    /// `www` has the set that two publisher keys have signed. The older key is on `Workplace.now`, all others a day later.
    init() throws {
        let signed = try SignedSetPlace()
        place = signed.place
        first = try signed.kid("Keys/publisher")
        _ = try place.shell("cp -a Keys/publisher one")
        try place.succeed("keys", "add", "Keys/publisher", at: Self.day(1))
        let kids = try place.keys("Keys/publisher", at: Self.day(1)).map(\.kid)
        second = kids.first { [first] in $0 != first } ?? ""
        try place.makeFolder("www", mode: 0o755)
        try change(day: 2)
    }

    private static func day(_ day: Int) -> String { SignedSetPlace.day(day) }

    private func publish(day: Int) throws -> Output {
        try place.run(
            "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", Self.day(day))
    }

    /// Changes the sender keyset, and publishes its set.
    private func change(day: Int) throws {
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "\(day + 3)", at: Self.day(day))
        let output = try publish(day: day)
        try #require(output.exit == 0, "\(output)")
    }

    private func destroy(_ kid: String, day: Int) throws {
        let output = try place.run(
            "keys", "destroy", "Keys/publisher", "--force", "--at", Self.day(day), "--", kid)
        try #require(output.exit == 0, "\(output)")
    }

    private func findings(day: Int) throws -> [ServedFinding] { try place.servedFindings(day: day) }

    @Test("keys publish refuses a publisher keyset with a destroyed key until that key is destroyed in it")
    func destroyed() throws {
        _ = try place.shell("cp -a Keys/publisher old")
        try destroy(second, day: 3)
        try change(day: 4)
        let served = try place.read("www/senders.json")
        _ = try place.shell("rm -r Keys/publisher && mv old Keys/publisher")
        let reason = "was not signed by publisher key \(second), which is older"
        #expect(try findings(day: 5).contains { $0.code == "served-signature" && $0.message.contains(reason) })
        for command in ["true", "mv www/senders.json www/senders.json.old"] {
            _ = try place.shell(command)
            expectRefusal(try publish(day: 5), 65, saying: reason)
        }
        #expect(!place.has("www/senders.json"))
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "9", at: Self.day(6))
        expectRefusal(try publish(day: 6), 65, saying: reason)
        try destroy(second, day: 6)
        #expect(try publish(day: 6).exit == 0)
        #expect(try place.read("www/senders.json") != served)
        #expect(try findings(day: 6).isEmpty)
    }

    @Test(
        "keys publish refuses a publisher keyset that lacks a key which has signed, and keeps the set and its numbered copy"
    )
    func lacking() throws {
        let served = try place.read("www/senders.json")
        _ = try place.shell("rm -r Keys/publisher && mv one Keys/publisher")
        let reason = "was signed by publisher key \(second), which Keys/publisher has never had"
        #expect(try findings(day: 5).contains { $0.code == "served-signature" && $0.message.contains(second) })
        expectRefusal(try publish(day: 5), 65, saying: reason)
        #expect(try place.read("www/senders.json") == served)
        _ = try place.shell("mv www/senders.json lost")
        expectRefusal(try publish(day: 5), 65, saying: "A set that was published isn't signed again")
        #expect(try place.read("www/senders.3.json") == served)
        _ = try place.shell("mv lost www/senders.json")
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "9", at: Self.day(6))
        let refused = try publish(day: 6)
        expectRefusal(refused, 65, saying: reason)
        // The key is lost.
        #expect(refused.stderr.contains("`mv www/senders.json www/senders.json.old`"))
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        #expect(try publish(day: 6).exit == 0)
    }

    @Test("status warns about an added and a destroyed publisher key until the set is signed again")
    func changed() throws {
        try place.succeed("keys", "add", "Keys/publisher", at: Self.day(3))
        let added = try #require(try findings(day: 3).first)
        #expect(added.code == "served-signature" && added.message.contains("which was added since: publish a new set"))
        try change(day: 3)
        #expect(try findings(day: 3).isEmpty)
        try destroy(first, day: 4)
        let destroyed = try #require(try findings(day: 4).first)
        #expect(destroyed.message.contains("is signed by publisher key \(first), which was destroyed since"))
        try change(day: 4)
        #expect(try findings(day: 4).isEmpty)
    }
}
