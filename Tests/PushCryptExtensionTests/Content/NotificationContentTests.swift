import Testing

@testable import PushCryptExtension

@Suite struct NotificationContentTests {
    /// Members of `aps`, without braces, and the content that they become.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let expected: NotificationContent

        init(_ aps: String, _ change: (inout NotificationContent) -> Void = { _ in }) {
            var content = NotificationContent()
            change(&content)
            (testDescription, expected) = (aps, content)
        }
    }

    private static let alerts = [
        Case(#""alert":"Text""#) { $0.body = .init(literal: "Text") },
        Case(#""alert":"é \ud83d\ude00 \n \u0000""#) { $0.body = .init(literal: "é 😀 \n \0") },
        Case(#""alert":{"title":"T","subtitle":"S","body":"B"}"#) {
            ($0.title, $0.subtitle, $0.body) = (.init(literal: "T"), .init(literal: "S"), .init(literal: "B"))
        },
        Case(#""alert":{"title-loc-key":"T","title-loc-args":["1","é"]}"#) {
            $0.title = .init(locKey: "T", locArguments: ["1", "é"])
        },
        Case(#""alert":{"subtitle-loc-key":"S","subtitle-loc-args":["2"]}"#) {
            $0.subtitle = .init(locKey: "S", locArguments: ["2"])
        },
        Case(#""alert":{"loc-key":"B","loc-args":[]}"#) { $0.body = .init(locKey: "B") },
        Case(#""alert":{"body":"B","loc-key":"K","loc-args":["1",2,null,"3"]}"#) {
            $0.body = .init(literal: "B", locKey: "K", locArguments: ["1", "2", "", "3"])
        },
        Case(#""alert":{"title-loc-key":"K","title-loc-args":[null,true,"3"]}"#) {
            $0.title = .init(locKey: "K", locArguments: ["", "true", "3"])
        },
        Case(#""alert":{"subtitle":"S","subtitle-loc-key":"K","subtitle-loc-args":["1",["2"]]}"#) {
            $0.subtitle = .init(literal: "S")
        },
        Case(#""alert":{"loc-key":"K","loc-args":[{"a":"1"}]}"#),
        Case(#""alert":{"loc-key":"","loc-args":["1"],"body":"B","title-loc-key":" ","title":"T"}"#) {
            ($0.title, $0.body) = (.init(literal: "T"), .init(literal: "B"))
        },
        Case(#""alert":{"title":"","body":"B"}"#) { ($0.title, $0.body) = (.init(literal: ""), .init(literal: "B")) },
    ]

    private static let others = [
        Case(#""sound":"default""#) { $0.sound = .init(name: "default") },
        Case(#""sound":"chime.caf""#) { $0.sound = .init(name: "chime.caf") },
        Case(#""sound":{"critical":1,"name":"alarm.caf","volume":0.5}"#) {
            $0.sound = .init(name: "alarm.caf", isCritical: true, volume: 0.5)
        },
        Case(#""sound":{"critical":0,"name":"alarm.caf"}"#) { $0.sound = .init(name: "alarm.caf") },
        Case(#""sound":{"critical":1}"#) { $0.sound = .init(name: "default", isCritical: true) },
        Case(#""sound":{"name":"a","critical":true,"volume":"1"}"#) { $0.sound = .init(name: "a") },
        Case(#""sound":{"name":"a","critical":2,"volume":1}"#) { $0.sound = .init(name: "a", volume: 1) },
        Case(#""sound":{"name":"a","critical":1,"volume":7}"#) { $0.sound = .init(name: "a", isCritical: true) },
        Case(#""sound":{}"#) { $0.sound = .init(name: "default") },
        Case(#""badge":3"#) { $0.badge = 3 }, Case(#""badge":0"#) { $0.badge = 0 },
        Case(#""badge":7.0"#) { $0.badge = 7 }, Case(#""badge":1e2"#) { $0.badge = 100 },
        Case(#""category":"MAIL""#) { $0.category = "MAIL" }, Case(#""thread-id":"t""#) { $0.threadID = "t" },
        Case(#""interruption-level":"time-sensitive""#) { $0.interruptionLevel = "time-sensitive" },
        Case(#""relevance-score":0.25"#) { $0.relevanceScore = 0.25 },
        Case(#""relevance-score":1"#) { $0.relevanceScore = 1 },
        Case(#""target-content-id":"window""#) { $0.targetContentID = "window" },
        Case(
            #""alert":{"title":"T","loc-key":"B","loc-args":["1"]},"sound":"s.caf","category":"C","thread-id":"t","#
                + #""interruption-level":"passive","badge":2,"relevance-score":0.5,"target-content-id":"w""#
        ) { content in
            (content.title, content.body) = (.init(literal: "T"), .init(locKey: "B", locArguments: ["1"]))
            (content.sound, content.badge, content.category) = (.init(name: "s.caf"), 2, "C")
            (content.threadID, content.targetContentID) = ("t", "w")
            (content.interruptionLevel, content.relevanceScore) = ("passive", 0.5)
        },
    ]

    /// Members of the wrong type get a warning, see `PayloadWarning`.
    private static let warned = [
        #""badge":"3""#, #""badge":true"#, #""badge":1.5"#, #""sound":1"#, #""sound":["a"]"#, #""thread-id":12"#,
        #""category":1"#, #""relevance-score":"1""#, #""interruption-level":"urgent""#, #""interruption-level":2"#,
        #""target-content-id":{}"#, #""filter-criteria":{}"#,
    ]

    private static let ignored = [
        #""alert":{"title":1,"subtitle":null,"body":["B"],"loc-key":true,"loc-args":"1"}"#, #""alert":null"#,
        #""alert":["Text"]"#, #""alert":5"#, #""sound":"""#, #""sound":null"#, #""badge":-1"#, #""badge":1e400"#,
        #""badge":1e300"#, #""badge":null"#, #""thread-id":null"#,
        #""content-available":1,"mutable-content":1,"url-args":["x"],"unknown":{}"#,
        #""Badge":3,"threadId":"t","sounds":"a""#, "",
    ]

    private static func content(_ json: String) throws -> NotificationContent {
        let text = try JSONText(Array(json.utf8))
        return NotificationContent(payload: text, userInfo: text.removingFromRoot("aps"))
    }

    @Test(
        "each member of aps is read, and members of the wrong type are ignored, of which some get a warning",
        arguments: alerts + others + (warned + ignored).map { Case($0) })
    func aps(testCase: Case) throws {
        let member = testCase.testDescription
        let json = #"{"aps":{\#(member)}}"#
        #expect(try Self.content(json) == testCase.expected)
        guard Self.warned.contains(member) else { return }
        #expect(try PayloadWarning.all(in: JSONText(Array(json.utf8)).root).count == 1)
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
        let json = #"{"x":1,"aps":{"alert":"x"},"y":{"aps":2,"pushcrypt":3}}"#
        #expect(try TestPush.open(TestPush(json: json).sealed()).get().content.userInfo.text == json)
    }

    @Test(
        "a payload without an aps object has neither text nor sound",
        arguments: ["{}", "[]", "null", "\"aps\"", #"{"aps":null}"#, #"{"aps":[]}"#, #"{"aps":"alert"}"#])
    func noAps(json: String) throws {
        let content = try Self.content(json)
        #expect(!content.hasText && content.sound == nil)
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
