import PushCryptCore
import Testing

/// What a device ignores or changes of a payload.
@Suite struct PayloadWarningTests {
    private func warnings(_ json: String) throws -> [PayloadWarning] {
        try PayloadWarning.all(in: JSONText(Array(json.utf8)).root)
    }

    /// Members of `aps` with values of other types, as backends send them.
    static let wrongTypes: [(path: String, aps: String)] = [
        ("aps.badge", #""badge":"3""#), ("aps.badge", #""badge":true"#), ("aps.badge", #""badge":1.5"#),
        ("aps.badge", #""badge":-1"#), ("aps.badge", #""badge":-0.5"#), ("aps.sound.volume", #""sound":{"volume":7}"#),
        ("aps.sound.volume", #""sound":{"volume":-0.1}"#), ("aps.badge", #""badge":{}"#),
        ("aps.sound", #""sound":1"#), ("aps.sound", #""sound":true"#),
        ("aps.sound", #""sound":["a"]"#), ("aps.thread-id", #""thread-id":12"#), ("aps.category", #""category":5"#),
        ("aps.sound.critical", #""sound":{"critical":"1"}"#), ("aps.sound.critical", #""sound":{"critical":true}"#),
        ("aps.sound.critical", #""sound":{"critical":2}"#), ("aps.sound.name", #""sound":{"name":7}"#),
        ("aps.sound.volume", #""sound":{"volume":"0.5"}"#), ("aps.relevance-score", #""relevance-score":"1""#),
        ("aps.relevance-score", #""relevance-score":false"#), ("aps.content-available", #""content-available":"1""#),
        ("aps.content-available", #""content-available":true"#), ("aps.content-available", #""content-available":1.0"#),
        ("aps.interruption-level", #""interruption-level":"urgent""#),
        ("aps.interruption-level", #""interruption-level":2"#), ("aps.target-content-id", #""target-content-id":1"#),
        ("aps.filter-criteria", #""filter-criteria":[]"#), ("aps.alert.title", #""alert":{"body":"x","title":5}"#),
        ("aps.alert.subtitle", #""alert":{"body":"x","subtitle":["a"]}"#),
        ("aps.alert.loc-key", #""alert":{"body":"x","loc-key":4}"#),
        ("aps.alert.loc-args", #""alert":{"body":"x","loc-args":"Zoë"}"#),
        ("aps.alert.launch-image", #""alert":{"body":"x","launch-image":1}"#),
        ("aps.alert.summary-arg-count", #""alert":{"body":"x","summary-arg-count":"2"}"#),
    ]

    @Test(
        "a member of aps with a wrong type, or a number out of its range, gets one warning with its path and its place",
        arguments: wrongTypes)
    func wrongType(_ test: (path: String, aps: String)) throws {
        let found = try warnings(#"{"aps":{\#(test.aps)}}"#)
        #expect(found.map(\.code) == [.wrongType], "\(found)")
        #expect(found.first?.description.hasPrefix("\(test.path) is ") == true, "\(found)")
        #expect(found.first.map { $0.byteOffset > 8 } == true)
    }

    @Test(
        "a payload whose members have Apple's types, or null, gets no warning",
        arguments: [
            #"{"aps":{"alert":"x"}}"#,
            #"{"aps":{"alert":{"title":"t","subtitle":"s","body":"b","loc-key":"k","loc-args":["a"],"launch-image":"i"}}}"#,
            #"{"aps":{"badge":3,"sound":"a","category":"c","thread-id":"t","relevance-score":0.5,"content-available":1}}"#,
            #"{"aps":{"badge":0,"sound":{"volume":0.0}}}"#,
            #"{"aps":{"badge":7.0,"sound":{"critical":1,"name":"a","volume":1},"content-available":0}}"#,
            #"{"aps":{"interruption-level":"time-sensitive","filter-criteria":"f","target-content-id":"t","own":[1]}}"#,
            #"{"aps":{"alert":"x","badge":null,"sound":null,"thread-id":null,"content-available":null}}"#,
            #"{"aps":{"alert":"x"},"n":null,"time":1800000000,"big":18446744073709551615,"small":1e-400,"a":[1.5,"x",{}]}"#,
            #"{"aps":[]}"#, #"[]"#, #""x""#,
        ])
    func none(_ json: String) throws {
        #expect(try warnings(json).isEmpty)
    }

    @Test(
        "values that a property list can't have get one warning of each kind with the place of the first",
        arguments: [
            (#"{"aps":{},"a":[1,null,{"b":[null]}]}"#, PayloadWarning.Code.nullElement, 17, "2, the first at byte 17"),
            (#"{"aps":{},"a":{"b":[{"c":1e400}]}}"#, .numberTooLarge, 25, "at byte 25"),
            (#"{"aps":{},"a":-9e999}"#, .numberTooLarge, 14, "at byte 14"),
            (#"{"aps":{},"a":18446744073709551616}"#, .integerRounded, 14, "at byte 14"),
            (#"{"aps":{"own":[null]}}"#, .nullElement, 15, "at byte 15"),
        ])
    func custom(_ json: String, _ code: PayloadWarning.Code, _ offset: Int, _ place: String) throws {
        let found = try warnings(json)
        #expect(found.map(\.code) == [code] && found.map(\.byteOffset) == [offset], "\(found)")
        #expect(found.first?.description.contains("(\(place))") == true, "\(found)")
    }

    @Test(
        "an outer payload gets one warning for all nulls: in aps, beside the envelope, in arrays and in the envelope",
        arguments: [
            #"{"aps":{"badge":null},"pushcrypt":{}}"#, #"{"aps":{},"x":[null],"pushcrypt":{}}"#,
            #"{"aps":{},"x":{"y":null},"pushcrypt":{"z":[null]}}"#, #"{"aps":{},"pushcrypt":null}"#,
            #"{"aps":{"alert":{"loc-key":"K","loc-args":[null]}},"pushcrypt":{"skid":null}}"#,
        ])
    func outer(_ json: String) throws {
        let root = try JSONText(Array(json.utf8)).root
        #expect(PayloadWarning.all(in: root, isOuter: true).map(\.code) == [.outerNull])
        #expect(!PayloadWarning.all(in: root).contains { $0.code == .outerNull })
    }

    @Test("a warning contains neither a value nor the name of a custom member")
    func secrecy() throws {
        let json = #"{"aps":{"badge":"SECRET","sound":{"SECRET":1,"name":2}},"SECRET":[null,1e400]}"#
        let found = try warnings(json)
        #expect(found.count == 4)
        for warning in found {
            #expect(!warning.description.contains("SECRET"))
            #expect(
                warning.description.utf8.allSatisfy {
                    $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
                })
        }
    }

    @Test(
        "aps of a Live Activity is recognised by its members, and null members are none",
        arguments: [
            (#""event":"update""#, true), (#""event":"start""#, true), (#""event":"end""#, true),
            (#""content-state":{}"#, true), (#""content-state":"x""#, true), (#""attributes":{}"#, true),
            (#""attributes-type":"T""#, true), (#""event":"order-shipped""#, false), (#""event":null"#, false),
            (#""content-state":null,"attributes":null"#, false), (#""timestamp":1"#, false), (#""badge":1"#, false),
        ])
    func liveActivity(_ members: String, _ isActivity: Bool) throws {
        let root = try JSONText(Array(#"{"aps":{"alert":"x",\#(members)}}"#.utf8)).root
        #expect(root["aps"]?.isOfLiveActivity == isActivity)
    }

    @Test(
        "the bytes of escapes that JSON doesn't require are counted in names and values",
        arguments: [
            (#"{"a":"\u00e9"}"#, 4), (#"{"\u0061":"x"}"#, 5), (#"{"a":"\/\/"}"#, 2), (#"{"a":"\ud83e\uddf6"}"#, 8),
            (#"{"a":"\"\\\n\u0000"}"#, 0), (#"{"a":"é","b":[1]}"#, 0),
        ])
    func escapes(_ json: String, _ count: Int) throws {
        #expect(try JSONText(Array(json.utf8)).escapingByteCount == count)
    }
}
