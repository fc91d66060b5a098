import Foundation
import Testing

@Suite("the published demo keys", .ownThreads)
struct DemoKeyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let arguments: [String]

        init(_ arguments: String) {
            testDescription = arguments
            self.arguments = arguments.split(separator: " ").map(String.init) + ["--topic", Workplace.topic]
        }
    }

    static let cases = [
        Case("seal --to Keys/demo/recipient"), Case("seal --to Keys/demo/shared --device one"),
        Case("seal --to registration.json"), Case("seal --to Keys/ios --sign-with Keys/demo/sender"),
        Case("open --keys Keys/demo/recipient.keyset"), Case("open --keys device.json"),
        Case("open --keys Keys/ios --trust Keys/demo/sender"), Case("open --keys Keys/ios --trust senders.json"),
        Case("inspect --keys Keys/ios --trust Keys/demo/sender"),
    ]

    @Test("commands refuse the published demo keys without --allow-demo-keys", arguments: cases)
    func refused(_ test: Case) throws {
        let place = try makePlace()
        let sealed = try place.read("sealed")
        let output = try place.run(test.arguments, stdin: sealed)
        expectRefusal(output, 64, saying: "--allow-demo-keys")
        let allowed = try place.run(test.arguments + ["--allow-demo-keys"], stdin: sealed)
        #expect(allowed.exit == 65 && !allowed.stderr.contains("demo"), "\(allowed)")
    }

    @Test(
        "commands use the demo keys with --allow-demo-keys, although their files are readable by all users",
        arguments: ["recipient", "shared"])
    func allowed(_ name: String) throws {
        let place = try makePlace()
        let sealed = try place.sealed(
            to: "Keys/demo/\(name)", "--sign-with", "Keys/demo/sender", "--allow-demo-keys")
        let opened = try place.open(
            keys: "Keys/demo/\(name)", "--trust", "Keys/demo/sender", "--allow-demo-keys", payload: sealed)
        #expect(opened.isSuccess, "\(opened)")
        #expect(opened.payload == Workplace.inner)
    }

    private func makePlace() throws -> Workplace { try Self.made.get().place() }

    private static let made = Result {
        let place = try Workplace()
        try place.copyDemoKeys()
        try place.create("Keys/ios", "recipient")
        try place.export("Keys/demo/recipient", to: "registration.json", "--registration")
        try place.export("Keys/demo/shared", to: "device.json", "--device", "one")
        try place.export("Keys/demo/sender", to: "senders.json")
        try place.write(try place.sealed(to: "Keys/ios"), to: "sealed")
        return try PlaceSnapshot(place)
    }
}
