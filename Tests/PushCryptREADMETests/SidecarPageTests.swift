import Foundation
import PushCryptTestSupport
import Testing

/// The clients and the units of docs/sidecar.md.
@Suite("the page of the sidecar")
struct SidecarPageTests {
    private static let page = "docs/sidecar.md"

    private static func succeeds(_ command: String...) -> Bool {
        (try? ChildProcess(executable: "/usr/bin/env", arguments: command).run()) == .exit(0)
    }

    private static let hasSystemd = succeeds("systemd-analyze", "--version")

    /// A client of the page, and a program that seals 600 lines with it, 100 of them waiting, while it ends the process five
    /// times. It writes all answers.
    struct Client: Sendable {
        let language: String
        let program: String
        let file: String
        let driver: String

        var isAvailable: Bool { SidecarPageTests.succeeds(program, "--version") }

        static let python = Client(
            language: "python", program: "python3", file: "client.py",
            driver: #"""


                async def main():
                    limit, answers = asyncio.Semaphore(100), {}
                    async with Sealer(*OPTIONS) as sealer:
                        async def seal(number):
                            async with limit:
                                if number % 120 == 110 and sealer.process.returncode is None:
                                    sealer.process.kill()
                                answers[number] = await sealer.seal(
                                    {"payload": {"aps": {"alert": f"Grüße {number}"}}, "device": "d", "campaign": f"c{number}"})

                        await asyncio.gather(*map(seal, range(600)))
                    with open("answers", "w") as file:
                        for number in range(600):
                            file.write(json.dumps(answers[number]) + "\n")
                    for command in ["pushcrypt", "./none"]:
                        wrong = Sealer("--to", "nothing", "--topic", "a.b")
                        wrong.command[0] = command
                        async with wrong:
                            for _ in range(2):
                                try:
                                    await wrong.seal({"payload": {}})
                                except (RuntimeError, OSError) as error:
                                    print(error)


                asyncio.run(main())
                """#)
        static let node = Client(
            language: "js", program: "node", file: "client.mjs",
            driver: #"""

                import { execFileSync } from "node:child_process";
                import { writeFileSync } from "node:fs";

                const sealer = new Sealer(...OPTIONS);
                const answers = [];
                let next = 0;
                async function worker() {
                  while (next < 600) {
                    const number = next++;
                    if (number % 120 === 110) execFileSync("pkill", ["-KILL", "-P", String(process.pid), "pushcrypt"]);
                    answers[number] = await sealer.seal(
                      { payload: { aps: { alert: `Grüße ${number}` } }, device: "d", campaign: `c${number}` });
                  }
                }
                await Promise.all(Array.from({ length: 100 }, worker));
                sealer.close();
                writeFileSync("answers", answers.map((answer) => JSON.stringify(answer) + "\n").join(""));
                for (const path of [process.env.PATH, "none"]) {
                  process.env.PATH = path;
                  const wrong = new Sealer("--to", "nothing", "--topic", "a.b");
                  for (let count = 0; count < 2; count++) await wrong.seal({ payload: {} }).catch((error) => console.log(error.message));
                }
                """#)
    }

    @Test(
        "the Python client survives kills, and each of its exact bodies opens once",
        .enabled(if: Client.python.isAvailable, "python3 not found"))
    func python() throws { try check(.python) }

    @Test(
        "the Node client survives kills, and each of its exact bodies opens once",
        .enabled(if: Client.node.isAvailable, "node not found"))
    func node() throws { try check(.node) }

    private func check(_ client: Client) throws {
        let code = try #require(try Documents.blocks(of: client.language, in: Self.page).first).text
        let options = ["--to", "Keys/fleet", "--topic", "com.example.app", "--placeholder-title", "Größe 🎈"]
        let list = "[" + options.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
        let driver = client.driver.replacing("OPTIONS", with: client.language == "js" ? list : "\(list)")
        let outputs = try TranscriptTests.run([
            "pushcrypt keys create Keys/fleet --kind shared --insecure-plaintext > kid",
            "cat > \(client.file) <<'END'\n\(code)\n\(driver)\nEND\n\(client.program) \(client.file) 2> errors",
            #"jq -r '.pushcrypt.request.body' answers > bodies; grep -c 'Größe 🎈' bodies; jq -r '.pushcrypt.id' answers | sort -u | wc -l"#,
            #"jq -c '{payload: (.pushcrypt.request.body | fromjson), device: "d"}' answers > lines"#,
            "pushcrypt open --batch --keys Keys/fleet --topic com.example.app < lines 2> counts | grep -o 'Grüße [0-9]*' | sort -u | wc -l",
            "jq -r '.pushcrypt.request.headers[\"apns-topic\"]' answers | sort -u",
        ])
        try #require(outputs.count == 6)
        // Both calls fail, with a keyset that doesn't exist and with a program that doesn't.
        let errors = outputs[1].split(separator: "\n")
        #expect(errors.prefix(2).allSatisfy { $0 == "the sealer ended three times without an answer" })
        #expect(errors.count == 4 && errors.suffix(2).allSatisfy { $0.contains("ENOENT") || $0.contains("./none") })
        #expect(outputs[2].split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) } == ["600", "600"])
        #expect(outputs[4].trimmingCharacters(in: .whitespaces) == "600" && outputs[5] == "com.example.app")
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
