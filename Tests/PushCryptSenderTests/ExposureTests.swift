import Foundation
import PushCryptSender
import Testing

/// What of the inner payload is seen outside.
@Suite struct ExposureTests {
    private func outside(_ json: String, _ exposed: [String] = []) throws -> (aps: [String: Any], raw: String) {
        let push = try Channel.simple.seal(json, Sealer.Options(exposed: exposed))
        let reading = try Reading(push, .simple)
        #expect(reading.payload == json)
        #expect(reading.aps["mutable-content"] as? Int == 1)
        #expect(reading.alert as? [String: String] == ["title": "New message"])
        return (reading.aps, String(decoding: push.json, as: UTF8.self))
    }

    @Test func nothingByDefault() throws {
        let json = #"""
            {"aps":{"alert":{"title":"SECRET-1"},"badge":7,"category":"SECRET-2","thread-id":"SECRET-3",\#
            "interruption-level":"critical","relevance-score":0.5,"target-content-id":"SECRET-4",\#
            "content-state":{"SECRET-5":1},"mutable-content":0},"SECRET-6":"SECRET-7"}
            """#
        let (aps, raw) = try outside(json)
        #expect(aps.keys.sorted() == ["alert", "mutable-content"])
        #expect(!raw.contains("SECRET"))
    }

    /// A sound shows that there is one, never which.
    @Test(arguments: [
        #""chime-SECRET.caf""#, #""default""#, #"{"name":"SECRET","critical":1,"volume":0.5}"#, #"{"volume":1}"#, "1",
        "true", #"["SECRET"]"#,
    ])
    func soundIsHinted(sound: String) throws {
        let (aps, raw) = try outside(#"{"aps":{"alert":"x","sound":\#(sound)}}"#)
        #expect(aps["sound"] as? String == "default")
        #expect(!raw.contains("SECRET"))
    }

    @Test(arguments: ["null", #""""#, "{}"])
    func noSoundNoHint(sound: String) throws {
        #expect(try outside(#"{"aps":{"alert":"x","sound":\#(sound)}}"#).aps["sound"] == nil)
    }

    @Test func contentAvailable() throws {
        let (aps, raw) = try outside(#"{"aps":{"alert":"x","content-available":1}}"#)
        #expect(aps.keys.sorted() == ["alert", "content-available", "mutable-content"])
        #expect(raw.contains(#""content-available":1"#))
    }

    /// Copies, as they stand in the inner payload, which stays complete.
    @Test func byName() throws {
        let json =
            #"{"aps":{"alert":"x","badge":1.50e0,"sound":"chime.caf","x":{ "a" : [1, 2] },"thread-id":"\u0041"}}"#
        let (aps, raw) = try outside(json, ["badge", "sound", "x", "thread-id", "not-there"])
        #expect(aps.keys.sorted() == ["alert", "badge", "mutable-content", "sound", "thread-id", "x"])
        for member in [#""badge":1.50e0"#, #""sound":"chime.caf""#, #""x":{ "a" : [1, 2] }"#, #""thread-id":"\u0041""#]
        {
            #expect(raw.contains(member))
        }
    }

    @Test func namedTwice() throws {
        let json = #"{"aps":{"alert":"x","badge":1,"content-available":1}}"#
        let (aps, raw) = try outside(json, ["badge", "content-available", "badge", "content-available"])
        #expect(aps.count == 4)
        #expect(raw.ranges(of: "\"badge\"").count == 1)
        #expect(raw.ranges(of: "\"content-available\"").count == 1)
    }

    /// A name that needs escapes, and one that the inner payload writes with them.
    @Test func namesWithEscapes() throws {
        let json = #"{"aps":{"alert":"x","a\"b":1,"\u0063\u0301":2,"b\u0061dge":3}}"#
        let (aps, _) = try outside(json, ["a\"b", "c\u{301}", "badge"])
        #expect(aps["a\"b"] as? Int == 1)
        #expect(aps["c\u{301}"] as? Int == 2)
        #expect(aps["badge"] as? Int == 3)
    }

    /// Only members of aps.
    @Test func membersBesideApsStayInside() throws {
        let (aps, raw) = try outside(#"{"aps":{"alert":"x"},"SECRET":1,"badge":2}"#, ["SECRET", "badge"])
        #expect(aps.keys.sorted() == ["alert", "mutable-content"])
        #expect(!raw.contains("SECRET"))
    }

    @Test(arguments: ["alert", "mutable-content", ""])
    func refused(name: String) {
        expectSealError(.invalidOption) { try outside(#"{"aps":{"alert":"x"}}"#, ["badge", name]) }
    }
}
