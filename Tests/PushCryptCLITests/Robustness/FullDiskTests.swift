import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("a full disk", .ownThreads, .enabled(if: FullDisk.isAvailable, FullDisk.missing))
struct FullDiskTests {
    static let commands = everywhere + (PushCryptCore.Suite.xWing.isAvailable ? [changeOver] : [])
    private static let changeOver = "keys add disk/Keys/ios --suite xwing"
    private static let everywhere = [
        "keys add disk/Keys/ios", "keys policy disk/Keys/ios --keep 3", "rotate disk/Keys/ios",
        "keys revoke disk/Keys/ios KID --yes", "keys passwd disk/Keys/ios --new-passphrase-file passphrase",
        "rotate --emergency --revoke KID --yes disk/Keys/ios",
        "keys create disk/Keys/new --kind recipient --insecure-plaintext",
    ]

    @Test("a change on a full disk exits 74 and changes nothing, and works after space is freed", arguments: commands)
    func brim(_ command: String) throws {
        let place = try makePlace()
        let kid = try #require(try place.keys("Keys/ios", at: Workplace.now).first).kid
        let change =
            "\"$PUSHCRYPT\" \(command.replacing("KID", with: kid)) --at \(Workplace.later(83 * Workplace.days))"
        let output = try FullDisk.run(
            """
            cp -a Keys disk/Keys
            fill 0
            \(change) 2>err; echo $? >status
            diff -r Keys disk/Keys && ls -A disk/Keys disk/Keys/ios >names
            make_room
            \(change) >/dev/null || exit
            for name in disk/Keys/*; do
                secret=; grep -q '"sealed"' $name/keyset.json && secret="--passphrase-file passphrase"
                "$PUSHCRYPT" keys verify $name $secret || exit
            done
            """, in: place)
        #expect(output.exit == 0, "\(output)")
        #expect(!output.text.contains("mended"))
        #expect(String(decoding: try place.read("status"), as: UTF8.self) == "74\n")
        let words = String(decoding: try place.read("err"), as: UTF8.self)
        #expect(words.contains("No space left on device"), "\(words)")
        #expect(!words.contains("is changed"), "\(words)")
        let names = String(decoding: try place.read("names"), as: UTF8.self)
        #expect(!names.contains(".new-"), "\(names)")
    }

    /// Hard links keep the pages of the replaced files, so each write needs free pages.
    @Test("a disk that is full before any write leaves the old or new keyset, and the next command finishes")
    func everyWrite() throws {
        let place = try makePlace()
        var failed = Set<String>()
        for pages in 0...14 {
            let output = try FullDisk.run(
                """
                cp -a Keys disk/Keys
                mkdir disk/links; ln disk/Keys/ios/* disk/links
                fill \(pages)
                "$PUSHCRYPT" keys policy disk/Keys/ios --keep 3 --reason \(String(repeating: "long", count: 1_000)) \\
                    --at \(Workplace.now) >/dev/null 2>err; echo $? >status
                "$PUSHCRYPT" keys list disk/Keys/ios --json >list || exit
                cp disk/Keys/ios/keyset.json left
                make_room
                "$PUSHCRYPT" keys verify disk/Keys/ios >/dev/null || exit
                "$PUSHCRYPT" keys policy disk/Keys/ios --keep 4 --at \(Workplace.now) >/dev/null || exit
                "$PUSHCRYPT" keys verify disk/Keys/ios
                """, in: place)
            #expect(output.isSuccess, "\(pages) pages: \(output)")
            let status = String(decoding: try place.read("status"), as: UTF8.self)
            let words = String(decoding: try place.read("err"), as: UTF8.self)
            let left = try Payload.member("pushcrypt.seq", of: try place.read("left")) as? Int
            let isChanged =
                words.isEmpty || words.contains("the keyset was changed, but its public file or audit log was not")
            #expect(left == (isChanged ? 2 : 1), "\(pages) pages: \(words)")
            #expect(status == (words.isEmpty ? "0\n" : "74\n"), "\(pages) pages: \(words)")
            failed.insert(
                words.firstMatch(of: /(keyset\.json|public\.jwks\.json|audit\.jsonl)[^:\/]*: No space/)?.1.description
                    ?? words)
        }
        #expect(failed == ["keyset.json", "public.jwks.json", "audit.jsonl", ""])
    }

    @Test("keys create on a full disk leaves no file", arguments: 0...2)
    func create(_ pages: Int) throws {
        let place = try Workplace()
        let output = try FullDisk.run(
            """
            mkdir -m 700 disk/Keys
            fill \(pages)
            "$PUSHCRYPT" keys create disk/Keys/ios --kind recipient --insecure-plaintext 2>err; echo $? >status
            ls -A disk/Keys
            """, in: place)
        #expect(output.exit == 0 && output.text.isEmpty, "\(output)")
        #expect(String(decoding: try place.read("status"), as: UTF8.self) == "74\n")
        let words = String(decoding: try place.read("err"), as: UTF8.self)
        #expect(words.contains("No space left on device") && !words.contains("changed"), "\(words)")
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.write(Data("correct horse".utf8), to: "passphrase")
        return place
    }
}
