import Foundation
import PushCryptTestSupport
import Testing

/// What fetches a name has the pins or the devices of one keyset.
@Suite("a name in the served folder keeps its keyset", .ownThreads)
struct ServedNameTests {
    private let place: Workplace
    private static let exchange = "set -- Keys/one Keys/two; mv $1 t; mv $2 $1; mv t $2"

    init() throws {
        place = try Workplace()
        try place.makeFolder("www", mode: 0o755)
    }

    /// - Parameter kind: of the keysets Keys/one and Keys/two, which are published.
    private func set(up kind: String) throws {
        if kind == "sender" { try place.create("Publisher/app", "publisher") }
        for path in ["Keys/one", "Keys/two"] {
            try place.createPublishable(path, kind)
            try #require(try place.publish(path, kind).exit == 0)
        }
    }

    @Test(
        "two folders were exchanged: keys publish refuses both and prints the exchange, also after the served files were moved away",
        arguments: ["sender", "recipient"])
    func exchanged(_ kind: String) throws {
        try set(up: kind)
        let right = try place.contents(of: "Keys")
        _ = try place.shell(Self.exchange)
        let suffix = kind == "sender" ? ".json" : ".jwks.json"
        for _ in 1...2 {
            for (own, other) in [("one", "two"), ("two", "one")] {
                let output = try place.publish("Keys/\(own)", kind)
                expectRefusal(output, 65, saying: "a numbered copy of this name, is a set of Keys/\(other)")
                expectRefusal(
                    output, 65, saying: "`mv Keys/\(own) Keys/\(own).exchanged && mv Keys/\(other) Keys/\(own) && ")
            }
            _ = try place.shell("mkdir -p old; for name in one two; do mv www/$name\(suffix) old; done; true")
        }
        let found = try place.servedErrors().filter { $0["code"] == "served-foreign" }
        #expect(found.count == 2, "\(found)")
        let commands = found.compactMap { $0["advice"] }
        _ = try place.shell("mv old/* www; \(try #require(commands.first { $0.hasPrefix("mv Keys/one ") }))")
        #expect(try place.contents(of: "Keys") == right)
        #expect(try place.servedErrors().isEmpty)
    }

    @Test(
        "folders were renamed or exchanged in a circle: what status advises moves folders, and no served file, until all is right",
        arguments: [
            "mv Keys/one Keys/one.old; mv Keys/two Keys/one",
            "mv Keys/two Keys/t; mv Keys/one Keys/two; mv Keys/t Keys/zzz",
            "mv Keys/one t; mv Keys/two Keys/one; mv Keys/three Keys/two; mv t Keys/three",
        ])
    func renamed(_ moves: String) throws {
        try set(up: "recipient")
        try place.create("Keys/three", "recipient")
        try #require(try place.publish("Keys/three", "recipient").exit == 0)
        let (keys, www) = (try place.contents(of: "Keys"), try place.contents(of: "www"))
        _ = try place.shell(moves)
        for _ in 1...3 {
            let commands = try place.servedErrors().filter { $0["code"] == "served-foreign" }.compactMap {
                $0["advice"]
            }
            if let command = commands.first(where: { $0.hasPrefix("mv ") }) { _ = try place.shell(command) }
            #expect(try place.contents(of: "www") == www, "\(commands)")
        }
        #expect(try place.contents(of: "Keys") == keys)
        #expect(try place.servedErrors().isEmpty)
    }

    @Test(
        "another recipient's set with a higher seq lies in the place of a keyset's: status and keys publish advise a seq above it"
    )
    func higherSequence() throws {
        try set(up: "recipient")
        try place.succeed("keys", "policy", "Keys/two", "--publish-seq", "9")
        try #require(try place.publish("Keys/two", "recipient").exit == 0)
        _ = try place.shell("cp www/two.jwks.json www/one.jwks.json")
        let raise = "pushcrypt keys policy Keys/one --publish-seq 10 && mv www/one.jwks.json www/one.jwks.json.old"
        #expect(try place.servedErrors().contains { $0["advice"]?.hasPrefix(raise) == true })
        expectRefusal(try place.publish("Keys/one", "recipient"), 65, saying: "publish again: `\(raise)`")
    }

    @Test(
        "a keyset lies in the place of one that is gone: it is moved back to its own name, no set is touched, and the set of the lost keyset is reported",
        arguments: ["sender", "recipient"])
    func inPlaceOfLost(_ kind: String) throws {
        try set(up: kind)
        let www = try place.contents(of: "www")
        _ = try place.shell("mv Keys/one aside; mv Keys/two Keys/one")
        expectRefusal(
            try place.publish("Keys/one", kind), 65, saying: "To put the folders back: `mv Keys/one Keys/two`")
        let command = try #require(try place.servedErrors().first { $0["code"] == "served-foreign" }?["advice"])
        #expect(command.hasPrefix("mv Keys/one Keys/two  # "))
        _ = try place.shell(command)
        #expect(try place.servedErrors().isEmpty)
        #expect(try place.contents(of: "www") == www)
        let output = try place.run(
            "status", "Keys", "--served", "www", "--ignore", "plain-text", "--at", Workplace.now)
        let file = kind == "sender" ? "www/one.json" : "www/one.jwks.json"
        #expect(
            output.exit == 1 && output.text.contains("\(file): no keyset of these keystores has this set"), "\(output)")
        try place.settle("aside")
        let several = try place.run(
            "status", "Keys", "aside", "--served", "www", "--ignore", "plain-text", "--at", Workplace.now)
        #expect(several.exit == 0, "\(several)")
    }

    @Test("a keyset isn't published under the name of another one, also after the set of that name was moved away")
    func otherName() throws {
        try set(up: "sender")
        _ = try place.shell("mv www/two.json old")
        let refused = try place.publish("Keys/one", "sender", "--as", "two")
        expectRefusal(
            refused, 65,
            saying: "www/two.2.json, a numbered copy of this name, is a set of Keys/two, and not of this keyset")
        expectRefusal(refused, 65, saying: "Publish under another name, with --as NAME")
    }

    @Test("two folders were exchanged, and no numbered copy is left: keys publish names both possibilities")
    func withoutCopies() throws {
        try set(up: "sender")
        _ = try place.shell("rm www/*.2.json; \(Self.exchange)")
        expectRefusal(
            try place.publish("Keys/one", "sender"), 65,
            saying: "it is the set of Keys/two. If the folders were exchanged: `mv Keys/one Keys/one.exchanged && ")
    }

    @Test("a name whose numbered copies are another keyset's is found, although its set is this keyset's")
    func copies() throws {
        try set(up: "sender")
        _ = try place.shell("rm www/one.* www/two.json; mv www/two.2.json www/one.2.json")
        expectRefusal(try place.publish("Keys/one", "sender"), 65, saying: "Publish under another name, with --as NAME")
        _ = try place.shell("mv www/one.2.json old")
        try #require(try place.publish("Keys/one", "sender").exit == 0)
        _ = try place.shell("mv old www/one.2.json")
        let found = try place.servedErrors().filter { $0["keyset"] == "Keys/one" && $0["code"] == "served-foreign" }
        #expect(
            found.first?["message"]?.hasSuffix("is a set of Keys/two, and not of this keyset") == true, "\(found)")
    }

    @Test("a keyset with another id isn't published under a name whose numbered copies have the earlier id")
    func otherID() throws {
        try set(up: "sender")
        _ = try place.shell("rm -r Keys/one www/one.json")
        try place.create("Keys/one", "sender")
        try place.succeed("keys", "policy", "Keys/one", "--publish-topic", "com.example.app")
        expectRefusal(
            try place.publish("Keys/one", "sender"), 65, saying: "is a set of another keyset, and not of this keyset")
        #expect(try place.publish("Keys/one", "sender", "--as", "new").exit == 0)
    }

    /// Files that two keysets exchanged, and the file that is named.
    enum Files: String, CaseIterable {
        case keyset = "keyset.json"
        case log = "audit.jsonl"
        case published = "public.jwks.json"
    }

    @Test(
        "a file of two keysets with different histories was exchanged: it is named, no restoration is advised, and one command ends it",
        arguments: Files.allCases)
    func files(_ file: Files) throws {
        try set(up: "sender")
        try place.succeed("keys", "policy", "Keys/one", "--publish-seq", "9")
        try #require(try place.publish("Keys/one", "sender").exit == 0)
        let right = try place.contents(of: "Keys")
        _ = try place.shell("set -- Keys/one/\(file.rawValue) Keys/two/\(file.rawValue); mv $1 t; mv $2 $1; mv t $2")
        let found = try place.servedErrors()
        #expect(!found.contains { $0["advice"]?.contains("keys restore") == true }, "\(found)")
        #expect(
            found.contains { $0["message"] == "\(file.rawValue) is that of Keys/two: the two files were exchanged" },
            "\(found)")
        // The keyset with the lower seq.
        let path = file == .published ? "Keys/two" : "Keys/one"
        let refused = try place.run("rotate", path, "--now", "--at", Workplace.now)
        let isLog = file == .log
        expectRefusal(
            refused, isLog ? 65 : 75,
            saying: isLog
                ? "a file of the two keysets was exchanged. `pushcrypt status Keys` names"
                : "unless a file was exchanged with another keyset's, which `pushcrypt status` says")
        let commands = found.compactMap { $0["advice"] }.filter { $0.hasPrefix("mv Keys/one/") }
        _ = try place.shell(try #require(commands.first))
        #expect(try place.contents(of: "Keys") == right)
        #expect(try place.servedErrors().isEmpty)
    }
}
