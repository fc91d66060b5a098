import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Both implementations compute the same key ids and device keys.
@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct KeyTests {
    private static func jwk(_ record: KeyRecord) throws -> JWK {
        var json: [UInt8] = []
        try record.appendJWK(to: &json)
        let members = try JSONText(json).root.members
        return JWK(uniqueKeysWithValues: members.map { ($0.name, $0.value.string ?? "") })
    }

    private static func expectSameKeyID(_ key: JWK, _ location: SourceLocation = #_sourceLocation) throws {
        let bare = key.filter { !["kid", "alg", "psk"].contains($0.key) }
        #expect(try Reference.ask(Request.Key(op: "kid", key: bare)).kid == key["kid"], sourceLocation: location)
    }

    @Test(
        "both implementations compute the ids of the fixed keys",
        arguments: ReferenceVectors.shared.keys.keys.sorted().filter { !$0.contains("device") })
    func fixedKeys(name: String) throws {
        for backend in Backends.all {
            let kid = try JWK.named(name).keyset(backend.backend).keyIDs[0]
            #expect(kid.description == JWK.named(name)["kid"])
        }
        try Self.expectSameKeyID(.named(name))
        try Self.expectSameKeyID(JWK.named(name).withoutPrivateKey)
    }

    @Test("Python computes the same ids for keys that Swift generated", arguments: Backends.all)
    func generatedKeys(backend: NamedBackend) throws {
        for _ in 0..<25 {
            try Self.expectSameKeyID(Self.jwk(.generate(.recipient, type: .p256, backend: backend.backend)))
            try Self.expectSameKeyID(
                Self.jwk(.generate(.recipient, type: .x25519, psk: true, backend: backend.backend)))
            try Self.expectSameKeyID(Self.jwk(.generate(.shared, backend: backend.backend)))
            try Self.expectSameKeyID(Self.jwk(.generate(.sender, backend: backend.backend)))
        }
    }

    @Test(
        "both implementations derive the same device keys",
        arguments: ["a", "_", "-", "phone-1_A", "0", String(repeating: "Z", count: 64)], Backends.all)
    func deviceKeys(device: String, backend: NamedBackend) throws {
        let master = JWK.named("shared")
        let derived = try master.keyset(backend.backend).device(DeviceID(device))
        let expected = try Reference.ask(Request.Key(op: "device_key", key: master, device: device))
        #expect(try Self.jwk(derived.entries[0].record) == expected.key)
        #expect(derived.keyIDs[0].description == master["kid"])
    }

    /// Python seals with the device's key that it derives from the master. The master itself doesn't open the push.
    @Test("a push sealed from the master opens with the device key", arguments: Backends.all)
    func sealingFromTheMaster(backend: NamedBackend) throws {
        let (master, device) = (JWK.named("shared"), Channel("device", isSigned: false))
        let request = Request.Seal(
            to: master, device: device.key["device"], topic: Push.topic, inner: ReferenceVectors.shared.inner,
            placeholder: ["title": "x"], at: Push.now)
        let payload = Array(try #require(Reference.ask(request).payload).utf8)
        #expect(try Outcome.swift(payload, device, backend.backend).inner == ReferenceVectors.shared.inner)
        let bare = Channel("master", master)
        #expect(try Outcome.swift(payload, bare, backend.backend) == .refused(.undecryptable))
        #expect(try Outcome.python(payload, bare) == .refused(.undecryptable))
    }

    @Test(
        "both implementations refuse the same device ids",
        arguments: ["", "a b", "é", "a.b", String(repeating: "a", count: 65)])
    func invalidDeviceIDs(device: String) throws {
        #expect(throws: KeyError.self) { try DeviceID(device) }
        let answer = try Reference.ask(Request.Key(op: "device_key", key: .named("shared"), device: device))
        #expect(answer.error == "invalidArgument")
    }

    @Test("both implementations refuse to derive from anything but a master", arguments: ["device", "p256", "sender"])
    func noMaster(name: String) throws {
        for backend in Backends.all {
            #expect(throws: KeyError.self) {
                try JWK.named(name).keyset(backend.backend).device(DeviceID("phone-2"))
            }
        }
        let answer = try Reference.ask(Request.Key(op: "device_key", key: .named(name), device: "phone-2"))
        #expect(answer.error == "malformed")
    }
}
