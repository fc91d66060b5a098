import Foundation
import PushCryptCore
import PushCryptExtension
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct UserInfoJSONTests {
    private static func dictionary(_ json: String) throws -> [AnyHashable: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test(
        "JSON values keep their kind when converted from a dictionary",
        arguments: [
            #"{"v":1}"#, #"{"v":true}"#, #"{"v":false}"#, #"{"v":0}"#, #"{"v":"1"}"#, #"{"v":1.5}"#, #"{"v":-7}"#,
            #"{"v":9007199254740991}"#, #"{"v":[1,true,"x",{}]}"#, #"{"v":{"w":null}}"#, "{}", #"{"":""}"#,
            #"{"v":"/ é ´ 🧶 \u2028 \u0000 \" \\"}"#,
        ])
    func tokensKeepTheirKind(_ json: String) throws {
        let text = try JSONText(UserInfoJSON.json(try Self.dictionary(json)))
        let expected = try JSONText(Array(json.utf8))
        #expect(text.root["v"]?.kind == expected.root["v"]?.kind)
        #expect(text.root["v"]?.protocolInteger == expected.root["v"]?.protocolInteger)
        #expect(text.root["v"]?.string == expected.root["v"]?.string)
        #expect(text.root["v"]?.boolean == expected.root["v"]?.boolean)
        #expect(text.root["v"]?.double == expected.root["v"]?.double)
    }

    @Test(
        "a sealed payload opens after conversion to the system's dictionary", arguments: Channel.Key.allCases,
        [
            #"{"aps":{"alert":"Hi"}}"#,
            #"{"aps":{"alert":{"title":"e\u0301 é 🧶🏽 \u200f","body":"\u0000\u2028\"\\/"}},"é":1,"e\u0301":2}"#,
            #"{ "aps" : { "alert" : "x" }, "n" : 1.50, "b" : [true, null, 1e2] }"#,
        ])
    func sealedPayloadOpens(_ key: Channel.Key, _ json: String) async throws {
        let channel = try Channel(key, signed: true)
        let userInfo = try Channel.request(channel.seal(json)).content.userInfo
        let opener = try Opener(topic: Channel.topic, keyring: channel.keyring, senders: channel.senders)
        let opened = try opener.open(UserInfoJSON.json(userInfo), at: Channel.now).get()
        #expect(String(decoding: opened.payload, as: UTF8.self) == json)
    }

    @Test("a dictionary that isn't JSON becomes empty data")
    func notJSON() {
        let key = AnyHashable(1)
        for userInfo in [["n": Double.nan], ["d": Date()], [key: "x"]] as [[AnyHashable: Any]] {
            #expect(UserInfoJSON.json(userInfo) == [])
        }
    }

    @Test(
        "a value that a property list can't have costs only itself, and an empty string keeps its place in an array",
        arguments: [
            (
                #"{"a":null,"b":[1,null,{"c":null,"d":true}],"e":"x","f":1.5}"#,
                #"{"b":[1,"",{"d":true}],"e":"x","f":1.5}"#
            ),
            (#"{"n":1e400,"m":1}"#, #"{"m":1}"#), (#"{"n":-1e400,"m":{"k":1e999,"l":"x"}}"#, #"{"m":{"l":"x"}}"#),
            (#"{"ids":[7,1e400,9,[null,1e400]]}"#, #"{"ids":[7,"",9,["",""]]}"#), (#"{"n":1e999}"#, "{}"),
        ])
    func dictionaryIsAPropertyList(_ json: String, _ expected: String) throws {
        let dictionary = UserInfoJSON.dictionary(Array(json.utf8))
        #expect(PropertyListSerialization.propertyList(dictionary, isValidFor: .binary))
        let object = try JSONSerialization.jsonObject(with: Data(expected.utf8))
        #expect(dictionary as NSDictionary == (object as? NSDictionary))
    }

    @Test("integers of up to 64 bits stay exact, and larger ones become the nearest Double")
    func integers() {
        let json = #"{"a":-9223372036854775808,"b":18446744073709551615,"c":18446744073709551616}"#
        let dictionary = UserInfoJSON.dictionary(Array(json.utf8))
        #expect(dictionary["a"] as? Int == Int.min && dictionary["b"] as? UInt64 == UInt64.max)
        #expect(dictionary["c"] as? Double == 18_446_744_073_709_551_616)
    }

    @Test("JSON that isn't a valid object becomes an empty dictionary", arguments: ["", "[]", "1", "{"])
    func notAnObject(_ json: String) {
        #expect(UserInfoJSON.dictionary(Array(json.utf8)).isEmpty)
    }
}
