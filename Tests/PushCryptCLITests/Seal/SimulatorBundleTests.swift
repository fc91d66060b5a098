import Foundation
import Testing

@Suite("seal --simulator-bundle", .ownThreads) struct SimulatorBundleTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    @Test("the output is the sealed payload with the member that Xcode's simulator reads, and opens without it")
    func file() throws {
        let output = try place.seal(to: "phone", "--simulator-bundle", "com.example.app.dev")
        #expect(output.exit == 0, "\(output)")
        #expect(
            output.stderr
                == "pushcrypt: com.example.app.dev opens the push only if its extension has the topic com.example.app\n"
        )
        var object = try output.object()
        #expect(object.removeValue(forKey: "Simulator Target Bundle") as? String == "com.example.app.dev")
        let rest = try JSONSerialization.data(withJSONObject: object)
        #expect(try place.open(keys: "phone", payload: rest).isSuccess)
    }

    @Test("with the longest padding the file has 4096 bytes, and nothing is printed for the topic's own bundle")
    func limit() throws {
        let output = try place.seal(to: "phone", "--simulator-bundle", Workplace.topic, "--pad", "max")
        #expect(output.isSuccess && output.stderr.isEmpty, "\(output)")
        // Base64url has 4 characters for 3 bytes, and the line has a newline.
        #expect((4_093...4_097).contains(output.stdout.count), "\(output.stdout.count)")
    }

    @Test("a bundle that isn't an identifier, and the option with --batch, are refused")
    func refused() throws {
        expectRefusal(try place.seal(to: "phone", "--simulator-bundle", "a\"b"), 64, saying: "--simulator-bundle")
        expectUsageError(try place.run("seal", "--batch", "--topic", "a", "--simulator-bundle", "com.example.app"))
    }
}
