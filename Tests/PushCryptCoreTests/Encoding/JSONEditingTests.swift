import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct JSONReplacingTests {
    @Test(
        "replacing one value leaves the other bytes unchanged",
        arguments: [
            (#"{"a":1}"#, #"{"a":[0]}"#), (#" { "a" : "x" } "#, #" { "a" : [0] } "#),
            (#"{"b":{"a":2},"a":{"b":{}},"c":3}"#, #"{"b":{"a":2},"a":[0],"c":3}"#),
            (#"{"\u0061":null}"#, #"{"\u0061":[0]}"#),
        ])
    func oneValue(before: String, after: String) throws {
        let text = try JSONText(text: before)
        let value = try #require(text.root["a"])
        #expect(readable(text.replacing([(value, Array("[0]".utf8))])) == after)
    }

    @Test("replacing several values doesn't depend on their order")
    func severalValues() throws {
        let text = try JSONText(text: #"{"a": 1, "b": [2, {"c": "three"}], "d": 4}"#)
        let (a, c) = (try #require(text.root["a"]), try #require(text.root["b"]?.elements.map(\.self).last?["c"]))
        let expected = #"{"a": "one", "b": [2, {"c": 3}], "d": 4}"#
        let replacements = [(a, Array(#""one""#.utf8)), (c, Array("3".utf8))]
        #expect(readable(text.replacing(replacements)) == expected)
        #expect(readable(text.replacing(replacements.reversed())) == expected)
        #expect(text.replacing([]) == text.bytes)
        #expect(readable(text.replacing([(text.root, [])])) == "")
    }

    @Test("replacing any value of a generated document leaves the other bytes unchanged", arguments: 0..<20)
    func everyValueInTurn(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<LongTests.value(10, short: 2) {
            let text = try JSONText(generator.document())
            for value in text.allValues {
                #expect(text.replacing([(value, Array(value.rawBytes))]) == text.bytes)
                let replaced = text.replacing([(value, Array("[]".utf8))])
                #expect(replaced.starts(with: text.bytes[..<value.range.lowerBound]))
                #expect(
                    replaced.suffix(text.bytes.count - value.range.upperBound) == text.bytes[value.range.upperBound...])
                #expect(replaced.count == text.bytes.count - value.range.count + 2)
                #expect(throws: Never.self) { try JSONText(replaced) }
            }
        }
    }
}

@Suite struct JSONRootEditingTests {
    @Test(
        "appending a member adds it after the last one, and removing it restores the text",
        arguments: [
            ("{}", #"{"x":0}"#), ("{ }", #"{"x":0 }"#), (" {\n} ", " {\"x\":0\n} "), (#"{"a":1}"#, #"{"a":1,"x":0}"#),
            (#" { "a" : {"b":[]} } "#, #" { "a" : {"b":[]},"x":0 } "#),
            (#"{"a":1,"b":"}" }"#, #"{"a":1,"b":"}","x":0 }"#),
        ])
    func appending(before: String, after: String) throws {
        let appended = try JSONText(text: before).appendingToRoot(rawMember: Array(#""x":0"#.utf8))
        #expect(readable(appended) == after)
        #expect(readable(try JSONText(appended).removingFromRoot("x")) == before)
    }

    @Test(
        "appending to a root that isn't an object throws rootIsNotAnObject",
        arguments: ["[]", "1", #""{}""#, "null", " [{}]"])
    func appendingToAnotherValue(text: String) throws {
        let start = text.hasPrefix(" ") ? 1 : 0
        #expect(throws: JSONError(.rootIsNotAnObject, at: start)) {
            try JSONText(text: text).appendingToRoot(rawMember: Array(#""x":0"#.utf8))
        }
    }

    @Test(
        "removing a member removes its comma and keeps the other bytes",
        arguments: [
            (#"{"x":1}"#, "{}"), (#"{ "x" : 1 }"#, "{  }"), (#"{"x":1,"b":2}"#, #"{"b":2}"#),
            (#"{ "x" : [1] , "b":2}"#, #"{ "b":2}"#), (#"{"a":1,"x":{"x":2},"b":3}"#, #"{"a":1,"b":3}"#),
            (#"{"a":1 , "x":2 , "b":3}"#, #"{"a":1 , "b":3}"#), (#"{"a":1,"x":2}"#, #"{"a":1}"#),
            (#"{"a":1 , "x":2 } "#, #"{"a":1 } "#), (#"{"a":1,"\u0078":2}"#, #"{"a":1}"#),
        ])
    func removing(before: String, after: String) throws {
        let removed = try JSONText(text: before).removingFromRoot("x")
        #expect(readable(removed) == after)
        #expect(throws: Never.self) { try JSONText(removed) }
    }

    @Test(
        "removing a name that the root doesn't have returns the same bytes",
        arguments: ["{}", #"{"a":{"x":1}}"#, #"{"X":1,"xx":2}"#, #"[{"x":1}]"#, #""x""#, #"{"a":"x"}"#])
    func removingWhatIsNotThere(text: String) throws {
        #expect(readable(try JSONText(text: text).removingFromRoot("x")) == text)
    }

    @Test("removing an appended member of a generated object restores its bytes", arguments: 0..<20)
    func removingUndoesAppending(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<LongTests.value(50, short: 15) {
            let bytes = generator.object()
            let member = Array(#""pushcrypt": {"v":1}"#.utf8)
            let appended = try JSONText(try JSONText(bytes).appendingToRoot(rawMember: member))
            #expect(appended.root.members.map(\.name).last == "pushcrypt")
            #expect(appended.root["pushcrypt"]?["v"]?.protocolInteger == 1)
            #expect(appended.removingFromRoot("pushcrypt") == bytes)
        }
    }

    @Test("removing any member of a generated object keeps the names and values of the others", arguments: 0..<20)
    func removingLeavesTheOthers(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<LongTests.value(20, short: 6) {
            let text = try JSONText(generator.object())
            for member in text.root.members {
                let rest = try JSONText(text.removingFromRoot(member.name))
                let others = text.root.members.filter { !$0.hasName(member.name) }
                #expect(rest.root.members.map(\.name) == others.map(\.name))
                #expect(rest.root.members.map(\.value.rawBytes) == others.map(\.value.rawBytes))
            }
        }
    }
}
