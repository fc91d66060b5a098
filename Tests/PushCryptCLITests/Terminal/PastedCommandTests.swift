import Foundation
import PushCryptTestSupport
import Testing

/// Text that is wrapped leaves commands whole, so that they can be pasted.
@Suite("Commands in wrapped text", .ownThreads)
struct PastedCommandTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    private func narrow(_ command: String) throws -> Output {
        try place.shell("COLUMNS=40 \"$PUSHCRYPT\" \(command) --at \(Workplace.now)")
    }

    @Test("the command that publishes a set stays in one line")
    func publishing() throws {
        try place.create("Keys/app", "sender")
        try place.succeed("keys", "policy", "Keys/app", "--publish-topic", "com.example.app")
        let output = try narrow("keys policy Keys/app --keep 3")
        #expect(
            output.text.contains(
                "`pushcrypt keys publish Keys/app --to FOLDER --signed-by Publisher/NAME`"),
            "\(output)")
        #expect(output.text.split(separator: "\n").filter { !$0.contains("`") }.allSatisfy { $0.count <= 40 })
    }

    @Test("keys list leaves the commands for an earlier copy and a broken log whole")
    func list() throws {
        try place.create("Keys/app", "shared")
        let copy = try place.read("Keys/app/keyset.json")
        try place.succeed("keys", "policy", "Keys/app", "--keep", "3")
        let new = try place.read("Keys/app/keyset.json")
        try place.write(copy, to: "Keys/app/keyset.json")
        #expect(try narrow("keys list Keys/app").text.contains("`pushcrypt keys doctor Keys/app`"))
        try place.write(new, to: "Keys/app/keyset.json")
        _ = try place.shell("rm Keys/app/audit.jsonl")
        let output = try narrow("keys list Keys/app")
        #expect(output.text.contains("`pushcrypt keys log Keys/app --start-new --reason WHY --yes`"), "\(output)")
    }
}
