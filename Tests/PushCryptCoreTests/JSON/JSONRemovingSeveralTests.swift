import Testing

@testable import PushCryptCore

/// Several members taken out of the root at once leave one well-formed object with the rest as it stood.
@Suite struct JSONRemovingSeveralTests {
    @Test(arguments: [
        (#"{"a":1,"b":2,"c":3}"#, #"{"c":3}"#),
        (#"{"c":3,"a":1,"b":2}"#, #"{"c":3}"#),
        (#"{"a":1,"c":3,"b":2}"#, #"{"c":3}"#),
        (#"{"b":1,"a":2}"#, #"{}"#),
        (#"{ "a" : 1 , "c" : 3 , "b" : 2 }"#, #"{ "c" : 3 }"#),
        (#"{"c":3, "a":1, "d":4, "b":2, "e":5}"#, #"{"c":3, "d":4, "e":5}"#),
        (#"{"\u0061":1,"c":{"a":1,"b":2}}"#, #"{"c":{"a":1,"b":2}}"#),
        (#"{"c":3}"#, #"{"c":3}"#),
        (#"["a","b"]"#, #"["a","b"]"#),
    ])
    func twoNames(_ text: String, _ expected: String) throws {
        let removed = try JSONText(Array(text.utf8)).removingFromRoot("a", "b")
        #expect(String(decoding: removed, as: UTF8.self) == expected)
    }
}
