import Foundation
import Testing

@Suite("the advice of keys doctor", .ownThreads)
struct KeysDoctorAdviceTests {
    static let cases = DoctorCase.all.filter { test in
        ["loose-mode", "public-missing", "public-differs", "no-publish-lead", "rotation-overdue"].contains(test.code)
            || test.code == "unfinished" && test.advice == DoctorCase.verify
    }

    @Test("the printed command corrects the finding, even in a folder with special characters", arguments: cases)
    func advice(_ test: DoctorCase) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try test.damage(place)
        let name = "it's $HOME"
        try place.move("Keys", to: name)
        try place.settle(name)
        let (before, commands) = try findings(place, name, test)
        #expect(before.contains(test.code))
        let script = try #require(commands.first)
        let repaired = try place.shell("pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(test.time); }; \(script)")
        #expect(repaired.exit == 0, "\(repaired)")
        try place.settle(name)
        #expect(!(try findings(place, name, test).codes.contains(test.code)))
    }

    private func findings(
        _ place: Workplace, _ path: String, _ test: DoctorCase
    ) throws -> (codes: [String], commands: [String]) {
        let output = try place.run("keys", "doctor", path, "--json", "--at", test.time)
        let list = try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]]
        let found = try #require(list, "\(output)")
        return (
            found.compactMap { $0["code"] }, found.filter { $0["code"] == test.code }.compactMap { $0["advice"] }
        )
    }
}
