import Foundation
import PushCryptTestSupport
import Testing

/// Text that is wrapped leaves commands whole, so that they can be pasted.
@Suite("Commands in wrapped text", .ownThreads)
struct PastedCommandTests {
    @Test("status wraps what a finding says, and no command that it advises")
    func status() throws {
        let place = try Workplace()
        try place.create("Keys/app", "shared")
        try place.write(Data(#"{"keystores":["Keys"],"history":"history"}"#.utf8), to: "settings.json")
        let output = try place.shell(
            "COLUMNS=40 \"$PUSHCRYPT\" status --settings settings.json --at \(Workplace.now)")
        let command = "`pushcrypt keys secret set \(place.folder.file("Keys/app.keyset").path)`"
        #expect(output.text.contains("\n    \(command)\n"), "\(output)")
        let text = output.text.split(separator: "\n").dropFirst().filter { !$0.contains(place.folder.path) }
        #expect(text.count > 3 && text.allSatisfy { $0.count <= 40 }, "\(output)")
    }
}
