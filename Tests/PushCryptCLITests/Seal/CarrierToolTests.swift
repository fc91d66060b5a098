import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("carriers in the tool", .ownThreads)
struct CarrierToolTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("Keys/ios", "recipient")
    }

    @Test(
        "what seal makes for a carrier, open restores and simulate shows, and an app without the carrier gets its name",
        arguments: Carrier.allCases)
    func roundTrip(_ carrier: Carrier) throws {
        let option = ["--carrier", carrier.rawValue]
        let sealed = try place.sealed(to: "Keys/ios", "--carrier", carrier.rawValue)
        let opened = try place.run(["open", "--keys", "Keys/ios"] + Workplace.atTopic(option), stdin: sealed)
        #expect(opened.payload == Workplace.inner, "\(opened)")
        let simulate = ["simulate", "--keys", "Keys/ios", "--json"]
        let shown = try place.run(simulate + Workplace.atTopic(option), stdin: sealed)
        #expect(shown.isSuccess, "\(shown)")
        #expect(try place.run(["inspect"], stdin: sealed).text.contains("sealed to key"))
        guard carrier.path.count > 1 || carrier.isText else { return }
        // An app that doesn't name the carrier: both commands say where the envelope is.
        for command in [["open", "--keys", "Keys/ios"], simulate] {
            let moved = try place.run(command + Workplace.atTopic([]), stdin: sealed)
            let words = carrier.isText ? "carrier text" : carrier.path.joined(separator: ".")
            #expect(moved.exit == 65 && (moved.text + moved.stderr).contains(words), "\(moved)")
        }
    }

    @Test("reseal keeps the place of the envelope", arguments: [Carrier.text, .expo])
    func reseal(_ carrier: Carrier) throws {
        try place.create("Keys/all", "shared")
        let sealed = try place.sealed(to: "Keys/all", "--carrier", carrier.rawValue)
        let line = Data(#"{"payload":"#.utf8) + sealed.dropLast() + Data("}".utf8)
        _ = try place.succeed("rotate", "Keys/all", "--now", "--at-once")
        let arguments = ["reseal", "--keys", "Keys/all", "--errors", "errors", "--carrier", carrier.rawValue]
        let resealed = try place.run(arguments + Workplace.atTopic([]), stdin: line)
        let payload = try #require(try Payload.object(resealed.payload)["payload"])
        let opened = try place.run(
            ["open", "--keys", "Keys/all", "--carrier", carrier.rawValue] + Workplace.atTopic([]),
            stdin: Payload.data(payload))
        #expect(resealed.exit == 0 && opened.payload == Workplace.inner, "\(resealed) \(opened)")
        #expect(try Payload.data(payload) != sealed)
    }

    @Test("--request prints headers and exact body for APNs; in a stream the line has it with the name in receipts")
    func request() throws {
        let seal = ["seal", "--to", "Keys/ios", "--request", "--collapse-id", "order"] + Workplace.atTopic([])
        let request = try Payload.object(place.run(seal, stdin: Workplace.inner).payload)
        let headers = try #require(request["headers"] as? [String: String])
        #expect(headers["apns-collapse-id"] == "order" && headers["apns-topic"] == Workplace.topic)
        let body = Data(try #require(request["body"] as? String).utf8)
        #expect(try place.open(keys: "Keys/ios", payload: body).payload == Workplace.inner)
        let line = Data(#"{"payload":"#.utf8) + Workplace.inner.filter { $0 != 10 } + Data("}\n".utf8)
        let answer = try Payload.object(place.run(seal + ["--stream"], stdin: line).payload)
        let summary = try #require(answer["pushcrypt"] as? [String: Any])
        let streamed = try #require(summary["request"] as? [String: Any])
        #expect((streamed["headers"] as? [String: String])?["apns-push-type"] == "alert")
        let name = ReceiptName(messageID: try #require(summary["id"] as? String))
        #expect(summary["receipt"] as? String == name?.description)
        let text = try #require(streamed["body"] as? String)
        let payload = try #require(answer["payload"] as? NSDictionary)
        #expect(try payload == Payload.object(Data(text.utf8)) as NSDictionary)
    }

    @Test("a line's carrier replaces the command's, and isn't in the answer; an unknown one is refused")
    func carrierOfLine() throws {
        let seal = ["seal", "--to", "Keys/ios", "--carrier", "expo", "--request", "--stream"] + Workplace.atTopic([])
        let payload = String(decoding: Workplace.inner.filter { $0 != 10 }, as: UTF8.self)
        let lines = ["", #","carrier":"oneSignal""#, #","carrier":"sms""#].map { #"{"payload":\#(payload)\#($0)}"# }
        let answers = try place.run(seal, stdin: Data((lines.joined(separator: "\n") + "\n").utf8)).payload
            .split(separator: 10).map { try Payload.object(Data($0)) }
        try #require(answers.count == 3)
        let requests = answers.map { ($0["pushcrypt"] as? [String: Any])?["request"] as? [String: Any] }
        #expect(requests[0]?["mutableContent"] as? Bool == true && requests[1]?["mutable_content"] as? Bool == true)
        #expect(answers.allSatisfy { $0["carrier"] == nil })
        #expect((answers[2]["error"] as? [String: Any])?["code"] as? String == "malformedLine")
    }

    @Test("diagnose finds what Firebase adds too much, its headers, and a request for several messages")
    func requests() throws {
        let seal = ["seal", "--to", "Keys/ios", "--pad", "max", "--request"] + Workplace.atTopic([])
        let diagnose = ["diagnose", "--at", Workplace.now, "--json", "--carrier"]
        let apns = try Payload.object(place.run(seal, stdin: Workplace.inner).payload)
        let body = try Payload.object(Data((apns["body"] as? String ?? "").utf8))
        let large = try place.run(
            diagnose + ["fcm"], stdin: Payload.data(["message": ["token": "t", "apns": ["payload": body]]]))
        #expect(large.exit == 65 && large.text.contains("payload-too-large") && large.text.contains("192"), "\(large)")
        var message = try Payload.object(place.run(seal + ["--carrier", "text"], stdin: Workplace.inner).payload)
        message = try #require(message["message"] as? [String: Any])
        // The message alone, as Firebase's client takes it.
        #expect(try place.run(diagnose + ["text"], stdin: Payload.data(message)).isSuccess)
        message["apns"] = (message["apns"] as? [String: Any])?.merging(
            ["headers": ["apns-push-type": "background", "apns-priority": "5"]]) { $1 }
        let silent = try place.run(diagnose + ["text"], stdin: Payload.data(message))
        #expect(silent.exit == 65 && silent.text.contains("header-wrong"), "\(silent)")
        let expo = try Payload.object(place.run(seal + ["--carrier", "expo"], stdin: Workplace.inner).payload)
        expectRefusal(
            try place.run(diagnose + ["expo"], stdin: Payload.data([expo, expo])), 65, saying: "2 messages")
        let opened = try place.run(
            ["open", "--keys", "Keys/ios", "--carrier", "expo"] + Workplace.atTopic([]), stdin: Payload.data(expo))
        #expect(opened.exit == 65 && opened.stderr.contains("request to a service"), "\(opened)")
    }

    @Test("diagnose takes the payload out of the arguments of SNS")
    func sns() throws {
        let sealed = try place.sealed(to: "Keys/ios")
        let message = try Payload.data(["default": "", "APNS": String(decoding: sealed, as: UTF8.self)])
        let arguments = [
            "TargetArn": "arn", "MessageStructure": "json", "Message": String(decoding: message, as: UTF8.self),
        ]
        for input in [message, try Payload.data(arguments)] {
            #expect(try place.run(["diagnose", "--at", Workplace.now], stdin: input).isSuccess)
        }
    }

    @Test(
        "diagnose names the carrier of a push for an app that names another one",
        arguments: Carrier.allCases, Carrier.allCases)
    func otherCarrier(_ carrier: Carrier, _ declared: Carrier) throws {
        guard carrier.path != declared.path || carrier.isText != declared.isText else { return }
        let sealed = try place.sealed(to: "Keys/ios", "--carrier", carrier.rawValue)
        let found = try place.run(
            ["diagnose", "--at", Workplace.now, "--carrier", declared.rawValue, "--json"], stdin: sealed)
        let named = carrier.path == ["pushcrypt"] && !carrier.isText ? "apns, rebuilt or fcm" : carrier.rawValue
        #expect(found.exit == 65 && found.text.contains("the carrier \(named),"), "\(found)")
    }

    @Test(
        "diagnose opens a push, and a request to its service, for an app that names the carrier",
        arguments: Carrier.allCases)
    func diagnosis(_ carrier: Carrier) throws {
        let seal = ["seal", "--to", "Keys/ios", "--carrier", carrier.rawValue] + Workplace.atTopic([])
        let diagnose = ["diagnose", "--at", Workplace.now, "--carrier", carrier.rawValue, "--keys", "Keys/ios"]
        let isForService = carrier == .text || carrier == .fcm || carrier.writesAPS
        for options in isForService ? [[], ["--request"]] : [[]] {
            let sealed = try place.run(seal + options, stdin: Workplace.inner).payload
            let found = try place.run(diagnose + ["--topic", Workplace.topic], stdin: sealed)
            #expect(found.isSuccess, "\(found)")
        }
    }

    @Test(
        "diagnose names what a request to Expo or OneSignal lacks, also in an array",
        arguments: [Carrier.expo, .oneSignal])
    func request(_ carrier: Carrier) throws {
        let seal = ["seal", "--to", "Keys/ios", "--carrier", carrier.rawValue, "--request"] + Workplace.atTopic([])
        var message = try Payload.object(place.run(seal, stdin: Workplace.inner).payload)
        message[carrier == .expo ? "mutableContent" : "mutable_content"] = nil
        let diagnose = ["diagnose", "--at", Workplace.now, "--carrier", carrier.rawValue, "--keys", "Keys/ios"]
        message[carrier == .expo ? "mutable_content" : "mutableContent"] = true
        for request in [message as Any, [message]] {
            let found = try place.run(diagnose, stdin: Payload.data(request))
            let name = carrier == .expo ? "mutableContent" : "mutable_content"
            #expect(found.exit == 65 && found.text.contains("Send \"\(name)\": true"), "\(found)")
        }
    }

    @Test(
        "diagnose names a flattened envelope", arguments: ["pushcrypt.sealed", "pushcrypt_sealed", "pushcrypt[sealed]"])
    func flattened(_ name: String) throws {
        let payload = Data(#"{"aps":{"alert":"x","mutable-content":1},"\#(name)":"AAEC"}"#.utf8)
        let found = try place.run(["diagnose", "--at", Workplace.now], stdin: payload)
        #expect(found.exit == 65 && found.text.contains(name), "\(found)")
    }
}
