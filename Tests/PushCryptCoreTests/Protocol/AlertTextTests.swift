import Testing

@testable import PushCryptCore

@Suite struct AlertTextTests {
    @Test(
        "an alert with a visible text is present",
        arguments: [
            #""Hi""#, #"" a""#, #""\u0000a""#, #"{"title":"a"}"#, #"{"subtitle":"a"}"#, #"{"body":"a"}"#,
            #"{"loc-key":"a"}"#,
            #"{"title-loc-key":"a"}"#, #"{"title":"","body":"a"}"#, #"{"title":1,"body":"a"}"#,
            #"{"title":null,"loc-key":"a"}"#, #"{"t\u0069tle":"a"}"#, #"{"x":1,"body":"\n."}"#,
        ])
    func present(alert: String) throws {
        #expect(AlertText.isVisible(in: try JSONText(Array(alert.utf8)).root))
        #expect(try InnerPayload(json: Array(#"{"aps":{"alert":\#(alert)}}"#.utf8)).aps != nil)
    }

    @Test(
        "an alert without a visible text, or of a wrong type, is absent",
        arguments: [
            #""""#, #"" ""#, #""\u0000""#, #"{"body":"\n"}"#, #"{"title":"\u200b","loc-key":" "}"#, "null", "true", "1",
            "[]", #"["Hi"]"#, "{}", #"{"title":""}"#,
            #"{"title":"","subtitle":"","body":""}"#,
            #"{"title":null}"#, #"{"title":1}"#, #"{"body":["a"]}"#, #"{"body":{"a":"b"}}"#,
            #"{"subtitle-loc-key":"a"}"#,
            #"{"loc-args":["a"]}"#, #"{"title-loc-args":["a"]}"#, #"{"launch-image":"a"}"#, #"{"Title":"a"}"#,
            #"{"action":"a"}"#, #"{"summary-arg":"a"}"#,
        ])
    func absent(alert: String) throws {
        #expect(!AlertText.isVisible(in: try JSONText(Array(alert.utf8)).root))
        #expect(throws: InnerPayload.Flaw.self) { try InnerPayload(json: Array(#"{"aps":{"alert":\#(alert)}}"#.utf8)) }
    }

    @Test("a missing alert has no text")
    func missing() {
        #expect(!AlertText.isVisible(in: nil))
    }
}
