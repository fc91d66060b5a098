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
