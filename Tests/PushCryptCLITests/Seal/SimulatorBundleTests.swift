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
        #expect(output.isSuccess, "\(output)")
        var object = try output.object()
        #expect(object.removeValue(forKey: "Simulator Target Bundle") as? String == "com.example.app.dev")
        let rest = try JSONSerialization.data(withJSONObject: object)
        #expect(try place.open(keys: "phone", payload: rest).isSuccess)
    }

    @Test("a bundle that isn't an identifier, and the option with --batch, are refused")
    func refused() throws {
        expectRefusal(try place.seal(to: "phone", "--simulator-bundle", "a\"b"), 64, saying: "--simulator-bundle")
        expectUsageError(try place.run("seal", "--batch", "--topic", "a", "--simulator-bundle", "com.example.app"))
    }
}
