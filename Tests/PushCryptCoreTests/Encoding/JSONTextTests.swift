import Testing

@testable import PushCryptCore

@Suite struct JSONTextTests {
    @Test(
        "the root may be a value of any kind",
        arguments: [
            ("null", JSONValue.Kind.null), ("true", .boolean), ("false", .boolean), ("-0.5e+7", .number),
            (#""a""#, .string), ("[]", .array), ("{}", .object), (" \t\r\n1 \t\r\n", .number),
        ])
    func rootMayBeAnyValue(text: String, kind: JSONValue.Kind) throws {
        let root = try JSONText(text: text).root
        #expect(root.kind == kind)
        #expect(String(decoding: root.rawBytes, as: UTF8.self) == text.trimmingJSONWhiteSpace)
    }

    @Test("the members of an object are in the order of the text")
    func members() throws {
        let text = #" { "a" : 1 , "\u0062" : {"c":[true]}, "":null}"#
        let root = try JSONText(text: text).root
        #expect(root.members.map(\.name) == ["a", "b", ""])
        #expect(root.members.map(\.value.kind) == [.number, .object, .null])
        #expect(root.members.map { slice(text, $0.nameRange) } == [#""a""#, #""\u0062""#, #""""#])
        #expect(root.members.map { slice(text, $0.value.range) } == ["1", #"{"c":[true]}"#, "null"])
        #expect(root.members.map { slice(text, $0.range) }.last == #""":null"#)
        #expect(root.elements.isEmpty)
    }

    @Test("the elements of an array are in the order of the text")
    func elements() throws {
        let text = #"[ 1 , [2,[3]], {"a":[4]} ,"5"]"#
        let root = try JSONText(text: text).root
        #expect(root.elements.map { slice(text, $0.range) } == ["1", "[2,[3]]", #"{"a":[4]}"#, #""5""#])
        #expect(root.elements.count == 4)
        #expect(root.members.isEmpty)
    }

    @Test(
        "an empty container and a scalar have no members and no elements",
        arguments: ["[]", "{}", "1", "\"a\"", "null"])
    func nothingInside(text: String) throws {
        let root = try JSONText(text: text).root
        #expect(root.members.isEmpty && root.elements.isEmpty)
        #expect(root["a"] == nil)
    }

    @Test("a member is found by its exact name, with and without escapes")
    func memberByName() throws {
        let root = try JSONText(text: #"{"a":{"a":1},"\u0062\n":2,"é":3,"aa":4,"":5}"#).root
        #expect(root["a"]?["a"]?.protocolInteger == 1)
        #expect(root["b\n"]?.protocolInteger == 2)
        #expect(root["é"]?.protocolInteger == 3)
        #expect(root["aa"]?.protocolInteger == 4)
        #expect(root[""]?.protocolInteger == 5)
        for absent in ["b", "\\u0062\\n", "e\u{301}", "aaa", "A", "1"] { #expect(root[absent] == nil, "\(absent)") }
    }

    @Test("arrays and objects nest up to the depth limit")
    func depthUpToTheLimit() throws {
        let depth = JSONText.maximumDepth
        let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let objects = String(repeating: #"{"a":"#, count: depth - 1) + "{}" + String(repeating: "}", count: depth - 1)
        let mixed = String(repeating: #"[{"a":"#, count: depth / 2) + "1" + String(repeating: "}]", count: depth / 2)
        for text in [arrays, objects, mixed, "[\(String(repeating: "[[]],", count: 100))0]"] {
            #expect(throws: Never.self) { try JSONText(text: text) }
        }
    }

    @Test("a text of the maximum length is accepted and a longer one refused")
    func lengthUpToTheLimit() throws {
        #expect(throws: Never.self) { try JSONText(Array("[1]".utf8), maximumCount: 3) }
        #expect(throws: JSONError(.tooLong, at: 2)) { try JSONText(Array("[1]".utf8), maximumCount: 2) }
        // The length is checked before the text is read.
        #expect(throws: JSONError(.tooLong, at: 2)) { try JSONText(Array("???".utf8), maximumCount: 2) }
    }

    @Test("the range of any value is a text with the same meaning inside its container's range", arguments: 0..<20)
    func rangesCutOutWholeValues(seed: UInt64) throws {
        var generator = JSONTestGenerator(seed: seed)
        for _ in 0..<20 {
            for value in try JSONText(generator.document()).allValues {
                let alone = try JSONText(Array(value.rawBytes)).root
                #expect(alone.rawBytes == value.rawBytes)
                #expect(alone.kind == value.kind)
                for child in value.members.map(\.range) + value.elements.map(\.range) {
                    #expect(value.range.lowerBound < child.lowerBound && child.upperBound < value.range.upperBound)
                }
            }
        }
    }

    @Test("printing and dumping a text or value shows no content")
    func printsNoContent() throws {
        let text = try JSONText(text: #"{"k":"secret"}"#)
        var dumped = ""
        dump(text, to: &dumped)
        dump(text.root["k"], to: &dumped)
        let printed = "\(text) \(String(reflecting: text)) \(text.root) \(String(reflecting: text.root["k"]))" + dumped
        #expect(printed.contains("14 bytes"))
        for trace in ["secret", "115", "0x73"] { #expect(!printed.contains(trace)) }
    }
}

private func slice(_ text: String, _ range: Range<Int>) -> String {
    String(decoding: Array(text.utf8)[range], as: UTF8.self)
}

extension String {
    fileprivate var trimmingJSONWhiteSpace: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
