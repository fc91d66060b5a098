import Foundation
import Testing

@Suite("keys create at the same time", .ownThreads)
struct CreationRaceTests {
    @Test(
        "exactly one of twenty processes creates the keyset, and no other file is left",
        arguments: ["Keys/ios", "a/b/c/ios"])
    func race(_ path: String) throws {
        let place = try Workplace()
        let output = try place.shell(
            """
            for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
              ( "$PUSHCRYPT" keys create \(path) --kind shared --insecure-plaintext >out.$i 2>err.$i; echo $? >status.$i ) &
            done
            wait
            """)
        #expect(output.isSuccess, "\(output)")
        let statuses = try (1...20).map { String(decoding: try place.read("status.\($0)"), as: UTF8.self) }
        #expect(statuses.filter { $0 == "0\n" }.count == 1)
        #expect(statuses.filter { $0 == "73\n" }.count == 19)
        let winner = try #require(statuses.firstIndex(of: "0\n")) + 1
        let kid = String(decoding: try place.read("out.\(winner)"), as: UTF8.self)
        #expect(try place.run("keys", "list", path).text.contains(kid.prefix(11)))
        #expect(try place.names(in: path) == ["audit.jsonl", "keyset.json"])
        #expect(try place.names(in: String(path.dropLast(4))) == ["ios"])
        for loser in 1...20 where loser != winner {
            #expect(try place.read("out.\(loser)").isEmpty)
            #expect(String(decoding: try place.read("err.\(loser)"), as: UTF8.self).contains(path))
        }
    }
}
