import Foundation
import Testing

/// The command ended by itself with `status`, one line on stderr and nothing on stdout.
func expectRefusal(
    _ output: Output, _ status: Int32, saying words: String = "", sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(output.exit == status, "\(output)", sourceLocation: sourceLocation)
    #expect(output.hasOneLineOnStderr, "\(output)", sourceLocation: sourceLocation)
    #expect(output.stdout.isEmpty, "\(output)", sourceLocation: sourceLocation)
    #expect(words.isEmpty || output.stderr.contains(words), "\(output)", sourceLocation: sourceLocation)
}

/// Bad usage: status 64, words on stderr, nothing on stdout.
func expectUsageError(_ output: Output, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(output.exit == 64, "\(output)", sourceLocation: sourceLocation)
    #expect(!output.stderr.isEmpty, "\(output)", sourceLocation: sourceLocation)
    #expect(output.stdout.isEmpty, "\(output)", sourceLocation: sourceLocation)
}

/// `open` showed a placeholder that names the failure's class.
func expectPlaceholder(
    _ output: Output, _ reason: String, title: String = "New message",
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(output.exit == 65, "\(output)", sourceLocation: sourceLocation)
    #expect(output.stderr == "pushcrypt: not opened: \(reason)\n", sourceLocation: sourceLocation)
    #expect(output.stdout.last == UInt8(ascii: "\n"), "\(output)", sourceLocation: sourceLocation)
    let stamp = try Payload.member("pushcrypt", of: output.payload) as? [String: String]
    #expect(stamp == ["status": "failed", "reason": reason], "\(output)", sourceLocation: sourceLocation)
    #expect(
        try Payload.string("aps.alert.title", of: output.payload) == title, "\(output)",
        sourceLocation: sourceLocation)
}
