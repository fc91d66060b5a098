import Foundation
import PushCryptTestSupport
import Testing

@Suite("publish", .ownThreads)
struct PublishTests {
    private let host: KeystorePlace

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
    }

    @Test(arguments: ["nothing", "junk", "a damaged set"])
    func `publish writes a set that is lost or damaged, or in whose place is junk`(_ fault: String) throws {
        let name = "www/\(try host.id()).1.json"
        let document = try host.place.read(name)
        switch fault {
        case "nothing": try host.place.remove("www")
        case "junk": try host.place.write(Data("junk".utf8), to: name)
        default: try host.place.edit(name) { $0.replacing("payload", with: "other") }
        }
        if fault == "nothing" {
            let output = try host.run("publish")
            #expect(output.exit == 69 && output.stderr.contains(host.file("www")), "\(output)")
            try host.place.makeFolder("www", mode: 0o755)
        }
        let output = try host.succeed("publish")
        #expect(output.text == "\(host.file("a/Keys/senders.keyset")): published \(host.file(name))\n")
        #expect(try host.place.read(name) == document)
        #expect(try host.run("publish").stdout.isEmpty)
        try host.expectHealthy()
    }

    @Test func `a renamed keyset is published under the same name, and is missing until the settings have its name`()
        throws
    {
        let names = try host.place.names(in: "www")
        try host.place.move("a/Keys/senders.keyset", to: "a/Keys/other.keyset")
        #expect(try host.run("rotate").exit == 66)
        #expect(try host.place.names(in: "www") == names)
        try host.place.edit("a/pushcrypt.json") { $0.replacing("\"senders\"", with: "\"other\"") }
        try host.expectHealthy()
    }

    @Test func `a set with later lines that no publisher has signed is replaced only with --replace`() throws {
        let recipients = try host.initialise("--recipient", "inbox", "--insecure-plaintext", "--yes")
        try #require(recipients.exit == 0, "\(recipients)")
        try host.succeed("rotate")
        let name = "www/\(try host.id("a/Keys/inbox.keyset")).jwks.json"
        try host.place.edit(name) { $0.replacing("\"seq\":", with: "\"seq\":9") }
        let refused = try host.run("publish")
        expectRefusal(refused, 78, saying: "`pushcrypt publish --replace \(host.file("a/Keys/inbox.keyset"))`")
        try host.succeed("publish", "--replace", "inbox")
        try host.expectHealthy()
    }

    @Test func `a publisher that the log doesn't name signs nothing`() throws {
        let other = try host.run(
            "a",
            [
                "init", "--keystore", host.file("b/Keys"), "--publisher-keystore", host.file("b/Publisher"),
                "--history",
                host.file("b/history"), "--settings", host.file("b/pushcrypt.json"), "--publish-to", host.file("www2"),
                "--pins", host.file("b/sender-pins.json"), "--topic", Workplace.topic, "--insecure-plaintext", "--yes",
            ], day: 0, settings: nil)
        try #require(other.exit == 0, "\(other)")
        let document = try host.place.read("www/\(host.id()).1.json")
        try host.succeed("rotate", day: 25)
        let output = try host.run("publish", "--publisher", host.file("b/Publisher/app"), "senders", day: 40)
        expectRefusal(output, 78, saying: "the publisher of epoch 1 isn't at hand")
        #expect(try host.place.read("www/\(host.id()).1.json") == document)
    }

    @Test func `the host of the publisher shows new keys and signs a log with --yes, and nothing without it`() throws {
        try host.copy("a", to: "p")
        try host.place.remove("p/Keys")
        try host.place.edit("p/pushcrypt.json") {
            $0.replacing("\"\(host.file("p/Keys"))\", ", with: "").replacing(", \"fleet\"", with: "")
                .replacing("\"senders\", ", with: "")
        }
        try host.place.remove("p/history")
        try host.place.remove("a/Publisher")
        try host.place.edit("a/pushcrypt.json") { $0.replacing(", \"\(host.file("a/Publisher"))\"", with: "") }
        let unsigned = try host.run("rotate", "--now", "senders")
        #expect(unsigned.exit == 0 && unsigned.stderr.contains("apps don't have the last changes"), "\(unsigned)")
        let sent = try host.succeed("publish", "--unsigned", host.file("sent"), "senders")
        let kid = try #require(host.kids().last)
        func sign(_ options: String...) throws -> Output {
            try host.run(
                "p", ["publish", "--sign", host.file("sent"), "--to", host.file("www")] + options, day: 0,
                settings: "p/pushcrypt.json")
        }
        let asked = try sign()
        #expect(asked.exit == 64 && asked.stderr.contains("new key \(kid), thumbprint "), "\(asked)")
        #expect(try host.servedKeys().count == 1)
        let head = try #require(sent.text.firstMatch(of: /line [0-9]+, [A-Za-z0-9_-]{43}/)?.0)
        #expect(asked.stderr.contains(head), "\(asked) lacks \(head)")
        let signed = try sign("--yes")
        #expect(signed.exit == 0, "\(signed)")
        #expect(try host.servedKeys()[kid] != nil)
        #expect(try sign().isSuccess)
    }
}
