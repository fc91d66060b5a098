import Foundation
import Testing

@Suite("usage of a batch", .ownThreads)
struct BatchUsageTests {
    private static let seal = ["seal", "--batch", "--topic", "a.b", "--to", "fleet.json"]
    private static let open = ["open", "--batch", "--topic", "a.b", "--keys", "fleet.json"]

    @Test(
        "bad usage exits 64 and creates no file",
        arguments: [
            ["seal", "--batch"], ["open", "--batch", "--topic", "a.b"], seal + ["--device", "d"],
            open + ["--device", "d"], seal + ["--jobs", "0"], seal + ["--jobs", "257"], seal + ["--resume-from", "0"],
            seal + ["--resume-from", "-1"], open + ["--jobs", "x"], seal + ["--errors", ""], seal + ["--id-from", ""],
            seal + ["--topic", "a/b"], open + ["--topic", "a/b"], seal + ["--limit", "5000"],
            seal + ["--expires", "31d"], seal + ["--expose", "alert"], seal + ["--placeholder-title", ""],
            ["seal", "--topic", "a.b", "--to", "fleet.json", "--jobs", "2"],
            ["seal", "--topic", "a.b", "--to", "fleet.json", "--errors", "e"],
            ["open", "--topic", "a.b", "--keys", "fleet.json", "--resume-from", "2"],
            ["seal", "--topic", "a.b"], open + ["--id-from", "x"], seal + ["more", "x"],
            ["seal", "--topic", "a.b", "--to", "fleet.json", "--recipients", "r"],
        ])
    func usage(_ arguments: [String]) throws {
        let batch = try BatchPlace()
        let before = try batch.place.names()
        expectUsageError(try batch.place.run(arguments, stdin: BatchPlace.data([BatchPlace.line(0)])))
        #expect(try batch.place.names() == before)
    }

    @Test("the help of seal and open describes --batch and its exit statuses", arguments: ["seal", "open"])
    func help(_ command: String) throws {
        let text = try CLI.run([command, "--help"]).text
        for words in ["--batch ", "--errors ", "--resume-from ", "--jobs ", "inputBase64", "exit status", "130"] {
            #expect(text.contains(words), "\(words)")
        }
        #expect(text.contains("--id-from ") == (command == "seal"))
    }
}
