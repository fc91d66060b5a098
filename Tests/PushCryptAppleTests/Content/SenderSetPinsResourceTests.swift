import Foundation
import PushCryptApple
import PushCryptTestSupport
import Testing

@Suite("pins of a sender set in the app's resources") struct SenderSetPinsResourceTests {
    private let place: TemporaryFolder

    init() throws {
        place = try TemporaryFolder()
    }

    /// An app with this text in pins.json; nil for an app without the file. A bundle doesn't see files that are added later.
    private func bundle(_ text: String?) throws -> Bundle {
        let app = place.file(text == nil ? "Empty.app" : "App.app")
        try FileManager.default.createDirectory(at: app, withIntermediateDirectories: true)
        if let text { try Data(text.utf8).write(to: app.appendingPathComponent("pins.json")) }
        return try #require(Bundle(url: app))
    }

    @Test("the pins of the file are read") func read() throws {
        let bundle = try bundle(
            #"{"publishers":[{"kty":"OKP","crv":"Ed25519","x":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w","#
                + #""alg":"Ed25519","kid":"UDDReOZl1io","role":"publisher"}],"set":"BwcHBwcHBwcHBwcHBwcHBw","epoch":3}"#
        )
        #expect(try SenderSetPins(resource: "pins", in: bundle).epoch == 3)
    }

    @Test("a missing file throws missingResource and names it, and a file of another form throws malformed")
    func refused() throws {
        let (empty, other) = (try bundle(nil), try bundle("{}"))
        let missing = #expect(throws: ExtensionSetupError.self) { try SenderSetPins(resource: "pins", in: empty) }
        #expect(missing?.code == .missingResource)
        #expect(missing?.reason.contains("pins.json") == true)
        let malformed = #expect(throws: KeyError.self) { try SenderSetPins(resource: "pins", in: other) }
        #expect(malformed?.code == .malformed)
    }
}
