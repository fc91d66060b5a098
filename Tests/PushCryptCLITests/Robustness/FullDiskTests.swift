import Foundation
import PushCryptTestSupport
import Testing

@Suite("keysets on a full disk", .ownThreads, .enabled(if: FullDisk.isAvailable, FullDisk.missing))
struct FullDiskTests {
    static let commands = [
        "keys add disk/Keys/ios", "keys policy disk/Keys/ios --keep 3", "rotate disk/Keys/ios",
        "keys revoke disk/Keys/ios KID --yes", "keys passwd disk/Keys/ios --new-passphrase-file passphrase",
        "rotate --emergency --revoke KID --yes disk/Keys/ios",
        "keys create disk/Keys/new --kind recipient --insecure-plaintext",
    ]

    @Test("a change on a full disk exits 74 and changes nothing, and works once there is room", arguments: commands)
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

    /// Links keep the pages of replaced files in use, so that each write needs free pages.
    @Test("a disk that fills up at any write leaves the old or the new keyset")
    func everyWrite() throws {
        let place = try makePlace()
        var failed = Set<String>()
        for pages in 0...14 {
            let output = try FullDisk.run(
                """
                cp -a Keys disk/Keys
                mkdir disk/links; ln disk/Keys/ios/* disk/links
                fill \(pages)
                "$PUSHCRYPT" keys policy disk/Keys/ios --keep 3 --reason \(String(repeating: "long", count: 2_000)) \\
                    >/dev/null 2>err; echo $? >status
                "$PUSHCRYPT" keys list disk/Keys/ios --json >list || exit
                cp disk/Keys/ios/keyset.json left
                make_room
                "$PUSHCRYPT" keys verify disk/Keys/ios >/dev/null || exit
                "$PUSHCRYPT" keys policy disk/Keys/ios --keep 4 >/dev/null || exit
                "$PUSHCRYPT" keys verify disk/Keys/ios
                """, in: place)
            #expect(output.isSuccess, "\(pages) pages: \(output)")
            let status = String(decoding: try place.read("status"), as: UTF8.self)
            let words = String(decoding: try place.read("err"), as: UTF8.self)
            let left = try Payload.member("pushcrypt.seq", of: try place.read("left")) as? Int
            let isChanged = words.isEmpty || words.contains("the keyset is changed, but not all that belongs to it")
            #expect(left == (isChanged ? 2 : 1), "\(pages) pages: \(words)")
            #expect(status == (words.isEmpty ? "0\n" : "74\n"), "\(pages) pages: \(words)")
            failed.insert(
                words.firstMatch(of: /(keyset\.json|public\.jwks\.json|audit\.jsonl)[^:\/]*: No space/)?.1.description
                    ?? words)
        }
        #expect(failed == ["keyset.json", "public.jwks.json", "audit.jsonl", ""])
    }

    @Test("a disk that fills up during keys create leaves no keyset", arguments: 0...2)
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

/// A small file system: a tmpfs in a mount namespace that ends with the script.
enum FullDisk {
    static let missing: Comment = "no file system can be mounted here: it needs root, or user namespaces (unshare -rm)"

    private static let unshare = geteuid() == 0 ? "unshare -m" : "unshare -rm"

    static let isAvailable = (try? run("true", in: Workplace()))?.exit == 0

    /// Runs a script of /bin/sh in `place`, with a new file system of 64 pages of 4,096 bytes mounted at `disk`. The script
    /// can call `fill N`, which leaves N pages free, and `make_room`.
    static func run(_ script: String, in place: Workplace) throws -> Output {
        try place.makeFolder("disk")
        try place.write(Data((functions + script).utf8), to: "script")
        return try place.shell("\(unshare) sh ./script")
    }

    private static let functions = """
        mount -t tmpfs -o size=256k,mode=700 tmpfs disk || exit 1
        fill() {
            cat /dev/zero >disk/fill 2>/dev/null
            truncate -s $(($(stat -c %s disk/fill) - $1 * 4096)) disk/fill
        }
        make_room() { rm disk/fill; }

        """
}
