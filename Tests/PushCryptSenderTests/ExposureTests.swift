import Foundation
import PushCryptSender
import Testing

/// The members of the inner payload that are visible in the outer payload.
@Suite struct ExposureTests {
    private func outside(_ json: String, _ exposed: [String] = []) throws -> (aps: [String: Any], raw: String) {
        let push = try Channel.simple.seal(json, Sealer.Options(exposed: exposed))
        let reading = try Reading(push, .simple)
        #expect(reading.payload == json)
        #expect(reading.aps["mutable-content"] as? Int == 1)
        #expect(reading.alert as? [String: String] == ["title": "New message"])
        return (reading.aps, String(decoding: push.json, as: UTF8.self))
    }

    @Test("no member of aps is exposed by default") func nothingByDefault() throws {
        let json = #"""
            {"aps":{"alert":{"title":"SECRET-1"},"badge":7,"category":"SECRET-2","thread-id":"SECRET-3",\#
            "interruption-level":"critical","relevance-score":0.5,"target-content-id":"SECRET-4",\#
            "own":{"SECRET-5":1},"mutable-content":0},"SECRET-6":"SECRET-7"}
            """#
        let (aps, raw) = try outside(json)
        #expect(aps.keys.sorted() == ["alert", "mutable-content"])
        #expect(!raw.contains("SECRET"))
    }

    /// The default sound shows that there is a sound, but not which.
    @Test(
        "a payload with a sound exposes the default sound",
        arguments: [
            #""chime-SECRET.caf""#, #""default""#, #"{"name":"SECRET","critical":1,"volume":0.5}"#, #"{"volume":1}"#,
            "1", "true", #"["SECRET"]"#,
        ])
    func soundIsHinted(sound: String) throws {
        let (aps, raw) = try outside(#"{"aps":{"alert":"x","sound":\#(sound)}}"#)
        #expect(aps["sound"] as? String == "default")
        #expect(!raw.contains("SECRET"))
    }

    @Test("a payload with an empty sound exposes no sound", arguments: ["null", #""""#, "{}"])
    func noSoundNoHint(sound: String) throws {
        #expect(try outside(#"{"aps":{"alert":"x","sound":\#(sound)}}"#).aps["sound"] == nil)
    }

    @Test("content-available 1 is exposed without being named") func contentAvailable() throws {
        let (aps, raw) = try outside(#"{"aps":{"alert":"x","content-available":1}}"#)
        #expect(aps.keys.sorted() == ["alert", "content-available", "mutable-content"])
        #expect(raw.contains(#""content-available":1"#))
    }

    @Test(
        "content-available other than the integer 1 isn't exposed, and naming it is refused",
        arguments: [#"{"x":"SECRET"}"#, #""SECRET""#, #"["SECRET"]"#, "1.0", "1e0", "10", "0", "-1", "true", "null"])
    func otherContentAvailable(value: String) throws {
        let json = #"{"aps":{"alert":"x","content-available":\#(value)}}"#
        let (aps, raw) = try outside(json)
        #expect(aps.keys.sorted() == ["alert", "mutable-content"])
        #expect(!raw.contains("SECRET"))
        expectSenderError(.notExposable) { try outside(json, ["content-available"]) }
    }

    /// Members of `aps` with values of their types, as the inner payload may contain them.
    static let exposable: [(name: String, values: [String])] = [
        ("badge", ["0", "7", "9007199254740991"]),
        (
            "sound",
            [
                #""""#, #""chime.caf""#, "{}", #"{"critical":1,"name":"a","volume":0.5}"#, #"{"critical":0}"#,
                #"{"volume":1}"#, #"{ "volume" : 0e0 }"#,
            ]
        ),
        ("interruption-level", [#""passive""#, #""active""#, #""time-sensitive""#, #""critic\u0061l""#]),
        ("relevance-score", ["0.50", "1", "-2.5e1"]),
        ("thread-id", [#""""#, #""\u0041""#]), ("category", [#""c""#]), ("target-content-id", [#""t""#]),
        ("filter-criteria", [#""f""#]), ("content-available", ["1"]), ("event", [#""order-shipped""#]),
        ("later-member", [#""s""#, "1.5", "true", "false"]),
    ]

    @Test("a named member with the right type is copied byte for byte", arguments: exposable)
    func byName(member: (name: String, values: [String])) throws {
        for value in member.values {
            let (aps, raw) = try outside(#"{"aps":{"alert":"x","\#(member.name)":\#(value)}}"#, [member.name])
            #expect(aps.keys.sorted() == ["alert", member.name, "mutable-content"].sorted(), "\(value)")
            #expect(raw.contains(#""\#(member.name)":\#(value)"#), "\(value)")
        }
    }

    @Test(
        "a named member with a wrong type or value is refused",
        arguments: [
            ("badge", ["-1", "1.5", "1.50e0", "1e2", "9007199254740992", #""1""#, "true", "null", "[1]", #"{"a":1}"#]),
            (
                "sound",
                [
                    "1", "true", "null", #"["a"]"#, #"{"critical":2}"#, #"{"critical":true}"#, #"{"critical":1.0}"#,
                    #"{"name":1}"#, #"{"name":{"x":"SECRET"}}"#, #"{"volume":1.5}"#, #"{"volume":-0.1}"#,
                    #"{"volume":"1"}"#, #"{"x":"SECRET"}"#,
                ]
            ),
            ("interruption-level", [#""Critical""#, #""SECRET""#, #""""#, "1", "null", #"["critical"]"#]),
            ("relevance-score", [#""0.5""#, "true", "null", "1e400", "[0.5]"]),
            ("thread-id", ["1", "null", "true", #"["t"]"#, #"{"x":"SECRET"}"#]),
            ("category", ["1", "{}"]), ("target-content-id", ["1", "[]"]), ("filter-criteria", ["1", "{}"]),
            ("later-member", ["null", "[]", #"["SECRET"]"#, #"{"x":"SECRET"}"#, "1e400"]),
        ])
    func otherType(member: (name: String, values: [String])) throws {
        for value in member.values {
            let json = #"{"aps":{"alert":"x","\#(member.name)":\#(value)}}"#
            let error = expectSenderError(.notExposable, "\(member.name) \(value)") { try outside(json, [member.name]) }
            let place = member.name == "later-member" ? "expose[0]" : "aps.\(member.name)"
            #expect(error?.reason.hasPrefix("\(place) can't be exposed") == true)
            #expect(error?.reason.contains("SECRET") == false)
        }
    }

    @Test(
        "a name that aps lacks is refused, and the error has Apple's name, or the place of a name that isn't Apple's",
        arguments: [("badge", "aps.badge"), ("category", "aps.category"), ("Mr-Smith_is_ill", "expose[1]")])
    func absent(name: String, place: String) {
        let json = #"{"aps":{"alert":"x","sound":"s"},"badge":1}"#
        let error = expectSenderError(.notExposable) { try outside(json, ["sound", name]) }
        #expect(error?.reason == "\(place) can't be exposed: the payload doesn't have it")
    }

    @Test("a name that is given twice exposes one member, and one with escapes in the payload is found")
    func namedTwice() throws {
        #expect(try outside(#"{"aps":{"alert":"x","b\u0061dge":3}}"#, ["badge"]).aps["badge"] as? Int == 3)
        let json = #"{"aps":{"alert":"x","badge":1,"content-available":1}}"#
        let (aps, raw) = try outside(json, ["badge", "content-available", "badge", "content-available"])
        #expect(aps.count == 4)
        #expect(raw.ranges(of: "\"badge\"").count == 1)
        #expect(raw.ranges(of: "\"content-available\"").count == 1)
    }

    @Test(
        "invalid names and more than 32 names are refused before the payload is parsed",
        arguments: [
            ["alert"], ["mutable-content"], [""], ["a\"b"], ["c\u{301}"], ["a b"], ["a.b"],
            [String(repeating: "a", count: 65)], Array(repeating: "badge", count: 33),
        ])
    func refused(names: [String]) {
        expectSenderError(.invalidOption) { try outside("not JSON", names) }
    }
}

/// `PlaceholderTests` of the core and `RefusalVectorTests` have the other kinds, and the placeholders that are refused.
@Suite struct PlaceholderTests {
    @Test(
        "a placeholder becomes an alert with Apple's keys",
        arguments: [
            (.standard, ["title": "New message", "body": "Open the app to read it"]),
            (.literal(title: "a\"},\"pushcrypt\":{\"v\":2}", body: nil), ["title": "a\"},\"pushcrypt\":{\"v\":2}"]),
            (
                Placeholder(
                    title: "T", subtitle: "S", body: "B", titleLocKey: "TK", titleLocArguments: ["1"],
                    subtitleLocKey: "SK", subtitleLocArguments: ["2", "\"3\""], bodyLocKey: "BK",
                    bodyLocArguments: ["", "é"], launchImage: "Launch"),
                [
                    "title": "T", "subtitle": "S", "body": "B", "title-loc-key": "TK", "title-loc-args": ["1"],
                    "subtitle-loc-key": "SK", "subtitle-loc-args": ["2", "\"3\""], "loc-key": "BK",
                    "loc-args": ["", "é"], "launch-image": "Launch",
                ]
            ),
        ] as [(Placeholder, [String: any Sendable])])
    func alert(placeholder: Placeholder, expected: [String: any Sendable]) throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#, placeholder: placeholder)
        #expect(try Reading(push, .simple).alert as NSDictionary == expected as NSDictionary)
    }

    @Test("a placeholder that leaves no room for the message is refused", arguments: [3_400, 3_900, 5_000])
    func tooLong(count: Int) throws {
        let placeholder = Placeholder.literal(title: String(repeating: "a", count: count), body: nil)
        let error = expectSenderError(.tooLarge) {
            try Channel.simple.seal(
                #"{"aps":{"alert":"\#(String(repeating: "b", count: 400))"}}"#, placeholder: placeholder)
        }
        #expect(try #require(error?.bytesNeeded) > count + 400)
    }
}
