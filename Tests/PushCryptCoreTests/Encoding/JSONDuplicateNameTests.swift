import Testing

@testable import PushCryptCore

@Suite struct JSONDuplicateNameTests {
    @Test(
        "two members with one name are refused at the second name",
        arguments: [
            RefusedJSON(#"{"a":1,"a":1}"#, .duplicateName, at: 7),
            RefusedJSON(#"{"":1,"":2}"#, .duplicateName, at: 6),
            RefusedJSON(#"{"a":1,"\u0061":2}"#, .duplicateName, at: 7),
            RefusedJSON(#"{"\u0061":1,"a":2}"#, .duplicateName, at: 12),
            RefusedJSON(#"{"\u006a":1,"\u006A":2}"#, .duplicateName, at: 12),
            RefusedJSON(#"{"/":1,"\/":2}"#, .duplicateName, at: 7),
            RefusedJSON(#"{"\n":1,"\u000a":2}"#, .duplicateName, at: 8),
            RefusedJSON(#"{"é":1,"\u00e9":2}"#, .duplicateName, at: 8),
            RefusedJSON(#"{"😀":1,"\ud83d\ude00":2}"#, .duplicateName, at: 10),
            RefusedJSON(#"{"a":1,"b":2,"c":3,"b":4,"a":5}"#, .duplicateName, at: 19),
            RefusedJSON(#"{"x":{"a":1,"a":2}}"#, .duplicateName, at: 12),
            RefusedJSON(#"[0,{"a":1,"a":2}]"#, .duplicateName, at: 10),
            RefusedJSON(#"{"a":{"b":1},"a":2}"#, .duplicateName, at: 13),
            RefusedJSON(#"[[{"x":[{"a":[],"a":{}}]}]]"#, .duplicateName, at: 16),
            RefusedJSON(#"{"aps":1, "x":[{"y":{}}] , "aps" : 2}"#, .duplicateName, at: 27),
        ])
    func refused(text: RefusedJSON) { text.expectRefusal() }

    @Test(
        "names that differ in any byte, or in different objects, are accepted",
        arguments: [
            #"{"a":1,"A":2}"#, #"{"a":1,"a ":2,"aa":3,"":4}"#, #"{"a":{"a":{"a":1}}}"#, #"[{"a":1},{"a":1}]"#,
            "{\"\u{E9}\":1,\"e\u{301}\":2}", #"{"a":1,"a\u0000":2}"#, #"{"\\u0061":1,"a":2}"#, #"{"a":"b","b":"a"}"#,
            #"{"ab":1,"ba":2}"#, "{\"\u{AC00}\":1,\"\u{1100}\u{1161}\":2}",
        ])
    func accepted(text: String) {
        #expect(throws: Never.self) { try JSONText(text: text) }
    }

    @Test(
        "a duplicate among few, many or escaped names is refused", arguments: [2, 3, 31, 32, 33, 34, 100, 5000],
        [false, true])
    func manyNames(count: Int, escaped: Bool) {
        let names = (0..<count).map { escaped ? "\\u006b\($0)" : "k\($0)" }
        #expect(throws: Never.self) { try JSONText(object(names)) }
        for (original, copy) in [(0, 1), (0, count - 1), (count - 2, count - 1)] {
            var repeated = names
            repeated[copy] = "k\(original)"
            let text = object(repeated)
            let offset = object(Array(repeated[..<copy])).count - (copy == 0 ? 0 : 1) + 1
            RefusedJSON(text, .duplicateName, at: offset).expectRefusal()
        }
    }

    private func object(_ names: [String]) -> [UInt8] {
        Array("{\(names.map { "\"\($0)\":0" }.joined(separator: ","))}".utf8)
    }
}
