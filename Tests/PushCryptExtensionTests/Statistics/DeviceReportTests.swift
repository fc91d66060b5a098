import Foundation
import PushCryptExtension
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@Suite struct DeviceReportTests {
    private static let now = TestPush.now

    private func report(
        _ keys: any DeviceKeyStorage, senders: SenderTrust = .unsigned, store: SharedStore? = nil
    ) throws -> JSONValue {
        let report = DeviceReport(topic: TestPush.topic, keys: keys, senders: senders, store: store, at: Self.now)
        let json = try report.json()
        #expect(try DeviceReport(json: json) == report)
        return try JSONText(Array(json)).root
    }

    @Test("a report lists the keys by id with suite, psk and state, and a damaged key as damaged")
    func keys() throws {
        let place = TestKeyring()
        let old = try place.register()
        let new = try place.identity(.init(suite: .x25519, withPSK: false)).rotate()
        let damaged = try #require(KeyID("AAAAAAAAAAA"))
        try place.write("{}", as: damaged)
        let keys = try #require(try report(place.keyring)["keys"]).elements
        func key(_ kid: KeyID) throws -> String {
            let key = try #require(keys.first { $0["kid"]?.string == kid.description })
            return ["suite", "hasPSK", "state"].map { name in
                key[name].map { String(decoding: $0.rawBytes, as: UTF8.self) } ?? "-"
            }.joined(separator: " ")
        }
        #expect(keys.count == 3)
        #expect(try key(old.kid) == #"1 true "primary""#)
        #expect(try key(new.kid) == #"2 false "pending""#)
        #expect(try key(damaged) == #"- false "damaged""#)
    }

    @Test("keys and a store that can't be reached are named as errors")
    func errors() throws {
        let folder = try TemporaryFolder()
        let file = folder.file("file")
        try Data().write(to: file)
        let report = try report(
            FileKeyring(folder: file.path), store: SharedStore(folder: folder.path + "/none/none", role: .app))
        #expect(report["keyStorage"]?["error"]?.string == "insecure" && report["keys"] == nil)
        #expect(report["store"]?["error"]?.string == "unavailable" && report["statistics"] == nil)
    }

    @Test("the report of an app without its app group names the failure for keys and store")
    func unavailable() throws {
        let report = DeviceReport(topic: "a.b", unavailable: "notEntitled", reason: "no group", at: Self.now)
        let root = try JSONText(Array(report.json())).root
        for name in ["keyStorage", "store"] { #expect(root[name]?["error"]?.string == "notEntitled") }
    }

    @Test("unsigned, pinned and unreadable senders are distinguished, and a revoked sender is listed as refused")
    func senders() throws {
        let keyring = TestKeyring().keyring
        #expect(try report(keyring)["senders"]?["unsigned"]?.boolean == true)
        let folder = try TemporaryFolder()
        let pins = try SenderPins(folder: folder.path + "/pins", publishers: .test(), topic: TestPush.topic)
        #expect(try report(keyring, senders: .pinned(pins))["senders"]?["error"]?.string == "unknownKey")
        let set = TestSenderSet(keys: [("sender", .always), ("other sender", .revoked(at: Self.now))], sequence: 7)
        try pins.accept(set.document(), at: Self.now)
        let senders = try #require(try report(keyring, senders: .pinned(pins))["senders"])
        let (kid, revoked) = try (TestKeys.sender("sender").kid, TestKeys.sender("other sender").kid)
        #expect(senders["kids"]?.elements.map(\.string) == [kid.description])
        #expect(senders["refused"]?[revoked.description]?.string == "keyRevoked")
        #expect(senders["sequence"]?.protocolInteger == 7)
    }

    @Test("the counters of real deliveries are in the report, which contains neither a secret nor the text")
    func counters() async throws {
        let phone = try await TestDevice(topic: TestPush.topic)
        let other = try await TestDevice(topic: TestPush.topic)
        let sealer = try Sealer(topic: TestPush.topic)
        for record in [phone.registration, other.registration] {
            let push = try sealer.seal(
                PushNotification(title: "Zoë"), to: Recipient(jwk: record), placeholder: .standard)
            _ = await phone.receive(push.json)
        }
        let json = try phone.report.json()
        let statistics = try #require(try JSONText(Array(json)).root["statistics"])
        #expect(statistics["opened"]?["count"]?.protocolInteger == 1)
        #expect(statistics["failures"]?["unknownKey"]?["count"]?.protocolInteger == 1)
        let kid = try JSONText(Array(other.registration)).root["kid"]?.string
        #expect(statistics["failures"]?["unknownKey"]?["lastKid"]?.string == kid)
        let psk = try #require(try JSONText(Array(phone.registration)).root["psk"]?.string)
        let text = String(decoding: json, as: UTF8.self)
        #expect(!text.contains(psk) && !text.contains("Zoë"))
    }
}
