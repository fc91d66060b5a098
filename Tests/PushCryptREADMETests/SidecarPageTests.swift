import Foundation
import PushCryptTestSupport
import Testing

/// The client and the units of docs/sidecar.md.
@Suite("the page of the sidecar")
struct SidecarPageTests {
    private static let page = "docs/sidecar.md"

    private static func succeeds(_ command: String...) -> Bool {
        (try? ChildProcess(executable: "/usr/bin/env", arguments: command).run()) == .exit(0)
    }

    private static let hasPython = succeeds("python3", "-c", "")
    private static let hasSystemd = succeeds("systemd-analyze", "--version")

    /// Accepts one connection, as systemd does, and seals to it.
    private static let driver = #"""
        import subprocess
        import threading

        listener = socket.socket(socket.AF_UNIX)
        listener.bind("seal.sock")
        listener.listen(1)


        def serve():
            with listener.accept()[0] as connection:
                subprocess.run(
                    "pushcrypt seal --stream --to Keys/fleet --topic com.example.app --pad max".split()
                    + ["--placeholder-title", "Größe 🎈 / \" ü"],
                    stdin=connection, stdout=connection, stderr=subprocess.DEVNULL)


        threading.Thread(target=serve, daemon=True).start()
        body = Sealer("seal.sock").seal({"aps": {"alert": "Grüße"}}, "phone-1", "spring")
        open("body", "wb").write(body)
        print("near the limit" if 4090 <= len(body) <= 4096 else f"{len(body)} bytes")
        print("not escaped" if "Größe 🎈" in body.decode() else "escaped")

        """#

    @Test(
        "the Python client returns a padded payload with a non-ASCII placeholder within 4,096 bytes, and it opens",
        .enabled(if: hasPython, "python3 not found"))
    func client() throws {
        let client = try #require(try Documents.blocks(of: "python", in: Self.page).first).text
        let outputs = try TranscriptTests.run([
            "pushcrypt keys create Keys/fleet --kind shared --insecure-plaintext > kid",
            "cat > client.py <<'END'\n\(client)\n\(Self.driver)\nEND\npython3 client.py",
            "pushcrypt open --keys Keys/fleet --device phone-1 --topic com.example.app < body",
        ])
        try #require(outputs.count == 3)
        #expect(outputs[1] == "near the limit\nnot escaped")
        #expect(outputs[2].contains("Grüße"), "\(outputs[2])")
    }

    @Test("systemd finds no fault in the units", .enabled(if: hasSystemd, "systemd-analyze not found"))
    func units() throws {
        let units = try Documents.blocks(of: "ini", in: Self.page).map { block in
            // It checks that the program exists.
            let text = block.text.replacing("/opt/pushcrypt/bin/pushcrypt", with: "/bin/cat")
            let name = try #require(block.lines[0].components(separatedBy: "/").last)
            return "cat > '\(name)' <<'END'\n\(text)\nEND"
        }
        #expect(units.count == 2)
        let outputs = try TranscriptTests.run([
            units.joined(separator: "\n"), "systemd-analyze verify ./push-seal.socket ./push-seal@.service; echo $?",
        ])
        #expect(outputs.last == "0")
    }
}
