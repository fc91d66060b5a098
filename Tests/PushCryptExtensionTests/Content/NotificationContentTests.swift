import PushCryptCore
import Testing

@testable import PushCryptExtension

@Suite struct NotificationContentTests {
    private static func content(_ json: String) throws -> NotificationContent {
        let text = try JSONText(Array(json.utf8))
        return NotificationContent(payload: text, userInfo: text.removingFromRoot("aps"))
    }

    @Test(
        "each member of aps is read, and members of the wrong type are ignored",
        arguments: ContentCase.alerts + ContentCase.sounds + ContentCase.others)
    func aps(testCase: ContentCase) throws {
        #expect(try Self.content(#"{"aps":{\#(testCase.aps)}}"#) == testCase.expected)
    }

    @Test(
        "a member of aps that gets a warning isn't read",
        arguments: [
            #""badge":"3""#, #""badge":true"#, #""badge":1.5"#, #""sound":1"#, #""sound":[]"#, #""thread-id":12"#,
            #""category":5"#, #""relevance-score":"1""#, #""interruption-level":"urgent""#, #""interruption-level":1"#,
            #""target-content-id":1"#, #""filter-criteria":{}"#,
        ])
    func warned(member: String) throws {
        let json = #"{"aps":{\#(member)}}"#
        #expect(try PayloadWarning.all(in: JSONText(Array(json.utf8)).root).count == 1)
        #expect(try Self.content(json) == Self.content(#"{"aps":{}}"#))
    }

    @Test("a payload with all members is read into one content")
    func everythingAtOnce() throws {
        let alert = #""alert":{"title":"T","loc-key":"B","loc-args":["1"]}"#
        let names = #""sound":"s.caf","category":"C","thread-id":"t","interruption-level":"passive""#
        let rest = #""badge":2,"relevance-score":0.5,"target-content-id":"w""#
        let content = try Self.content(#"{"aps":{\#(alert),\#(names),\#(rest)},"a":1}"#)
        #expect(content.title == .init(literal: "T"))
        #expect(content.subtitle.isEmpty)
        #expect(content.body == .init(locKey: "B", locArguments: ["1"]))
        #expect(content.badge == 2)
        #expect(content.sound == .init(name: "s.caf"))
        #expect(content.category == "C")
        #expect(content.threadID == "t")
        #expect(content.interruptionLevel == "passive")
        #expect(content.relevanceScore == 0.5)
        #expect(content.targetContentID == "w")
        #expect(content.userInfo.text == #"{"a":1}"#)
    }

    @Test(
        "userInfo contains the payload unchanged without aps",
        arguments: [
            (#"{"aps":{}}"#, "{}"), (#"{"aps":{},"a":1.10}"#, #"{"a":1.10}"#), (#"{"a":1,"aps":{}}"#, #"{"a":1}"#),
            (#"{"a":{"aps":1},"aps":{},"b":[null, 1e400]}"#, #"{"a":{"aps":1},"b":[null, 1e400]}"#),
            (#"{"\u0061ps":{},"\u0061":"é"}"#, #"{"\u0061":"é"}"#),
        ])
    func userInfo(json: String, expected: String) throws {
        #expect(try Self.content(json).userInfo.text == expected)
    }

    @Test("userInfo of an opened push contains the payload without the root's pushcrypt member")
    func userInfoOfASealedPayload() throws {
        let sealed = try TestPush(json: #"{"x":1,"aps":{"alert":"x"},"y":{"aps":2,"pushcrypt":3}}"#).sealed()
        let content = try TestPush.open(sealed).get().content
        #expect(content.userInfo.text == #"{"x":1,"aps":{"alert":"x"},"y":{"aps":2,"pushcrypt":3}}"#)
    }

    @Test(
        "a payload without an aps object has neither text nor sound",
        arguments: ["{}", "[]", "null", "\"aps\"", #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":"alert"}"#])
    func noAps(json: String) throws {
        let content = try Self.content(json)
        #expect(!content.hasText)
        #expect(content.sound == nil)
    }

    @Test(
        "text without visible characters is empty, and content with only such text has no text",
        arguments: [
            (NotificationContent.Text(), true), (.init(literal: ""), true), (.init(literal: "", locKey: ""), true),
            (.init(locArguments: ["x"]), true), (.init(literal: "x"), false), (.init(locKey: "x"), false),
            (.init(literal: "", locKey: "x"), false), (.init(literal: " ", locKey: "\u{200B}"), true),
        ])
    func textIsEmpty(text: NotificationContent.Text, isEmpty: Bool) {
        #expect(text.locKey == nil || text.locKey == "x")
        #expect(text.isEmpty == isEmpty)
        for place in [\NotificationContent.title, \.subtitle, \.body] {
            var content = NotificationContent()
            content[keyPath: place] = text
            #expect(content.hasText == !isEmpty)
        }
    }
}
