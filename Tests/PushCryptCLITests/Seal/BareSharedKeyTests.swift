import Foundation
import PushCryptTestSupport
import Testing

/// Everyone who has a shared key can open what is sealed to it. So nothing may be sealed to it only because the device was
/// forgotten.
@Suite("sealing to a shared key itself", .ownThreads)
struct BareSharedKeyTests {
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        try batch.place.create("Keys/fleet", "shared")
        return batch
    }

    private static func command(_ keys: String) -> [String] {
        ["seal", "--to", keys, "--topic", Workplace.topic, "--at", Workplace.now]
    }

    @Test(
        "a shared key without --device exits 64 and names --device and --bare; with either it is sealed",
        arguments: ["Keys/fleet", "fleet.json"])
    func one(_ keys: String) throws {
        let batch = try Self.place()
        let refused = try batch.place.run(Self.command(keys), stdin: Workplace.inner)
        expectRefusal(refused, 64, saying: "--device")
        #expect(refused.stderr.contains("--bare"), "\(refused)")
        for (options, opening) in [(["--bare"], [String]()), (["--device", "d1"], ["--device", "d1"])] {
            let sealed = try batch.place.run(Self.command(keys) + options, stdin: Workplace.inner)
            #expect(sealed.isSuccess, "\(sealed)")
            let opened = try batch.place.run(
                ["open", "--keys", keys, "--topic", Workplace.topic, "--at", Workplace.now] + opening,
                stdin: sealed.stdout)
            #expect(opened.isSuccess, "\(opened)")
        }
    }

    @Test("a device's key and a public key need neither --device nor --bare")
    func others() throws {
        let batch = try Self.place()
        try batch.place.write(Data(BatchPlace.jwk("device").utf8), to: "device.json")
        try batch.place.write(Data(BatchPlace.registration("p256").utf8), to: "public.json")
        for keys in ["device.json", "public.json"] {
            for options in [[], ["--bare"]] {
                #expect(try batch.place.run(Self.command(keys) + options, stdin: Workplace.inner).isSuccess)
            }
        }
    }

    @Test(
        "lines without a device are refused as deviceMissing, for the key of --to, of the line and of the directory",
        arguments: ["--batch", "--stream"])
    func lines(_ mode: String) throws {
        let batch = try Self.place()
        let shared = try BatchPlace.jwk("shared")
        try batch.importRecipients(["shared"])
        let to = ["", #""to":\#(shared),"#, #""to":"\#(try BatchPlace.kid("shared"))","#]
        let lines = to.map { "{\($0)\(Self.payload)}" } + to.map { #"{\#($0)"device":"d1",\#(Self.payload)}"# }
        let command = [
            "seal", mode, "--topic", Workplace.topic, "--at", Workplace.now, "--to", "fleet.json", "--recipients",
            "recipients.db",
        ]
        let output = try batch.place.run(command, stdin: BatchPlace.data(lines))
        let text = output.text + output.stderr
        #expect(text.matches(of: /deviceMissing/).count == 3, "\(output)")
        // The key of the device is derived, also from a master in the directory.
        #expect(output.text.matches(of: /"id":"/).count == 3, "\(output)")
        let bare = try batch.place.run(command + ["--bare"], stdin: BatchPlace.data(Array(lines.prefix(3))))
        #expect(bare.exit == 0 && bare.text.matches(of: /"id":"/).count == 3, "\(bare)")
    }
}
