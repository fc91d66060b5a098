import PushCryptCore
import PushCryptExtension
import PushCryptHPKE
import PushCryptPrimitives

/// The input as an outer payload: parsed, written again, and opened with valid keys.
///
/// The inputs contain sealed payloads of the vectors, so mutations of their outer members open.
func fuzzOuterPayload(_ input: [UInt8]) throws {
    let slow = SlowJSON(input)
    guard let text = try? JSONText(input) else {
        try require(slow == nil, "JSONText accepts what the slow reader accepts")
        return try expect([.malformed], openingOuter(input))
    }
    let tree = try require(slow, "the slow reader accepts what JSONText accepts")
    let outer: OuterPayload
    do throws(FailureClass) { _ = try OuterPayload(text, at: .all) } catch {
        try require([.notSealed, .malformed, .unsupportedVersion].contains(error), "\(error) is a class of the parser")
    }
    do {
        outer = try OuterPayload(text)
    } catch {
        try require([.notSealed, .malformed, .unsupportedVersion].contains(error), "\(error) is a class of the parser")
        try require((error == .notSealed) == (tree.isObject && tree["pushcrypt"] == nil), "notSealed has one reason")
        return try expect([error], openingOuter(input))
    }
    try checkOuter(outer, text, tree)
    for carrier in Carrier.allCases {
        let frame = OuterFrame(
            placeholder: Array(#""x""#.utf8), exposed: [], kid: outer.kid, skid: outer.skid, carrier: carrier)
        let read = try OuterPayload(JSONText(frame.payload(sealed: outer.sealed)), at: EnvelopePlaces([carrier]))
        try require(
            read.kid == outer.kid && read.skid == outer.skid && read.sealed == outer.sealed, "each carrier's is read")
    }
    // The result depends on the envelope only: no other outer member changes what is opened, or why it isn't.
    let placeholder = Array(#""x""#.utf8)
    let frame = OuterFrame(placeholder: placeholder, exposed: [], kid: outer.kid, skid: outer.skid)
    switch (openingOuter(input), openingOuter(frame.payload(sealed: outer.sealed))) {
    case (.success(let push), .success(let bare)):
        try require(push.payload == bare.payload && push.messageID == bare.messageID, "the same message is opened")
        try require(push.kid == outer.kid && push.signedBy == outer.skid, "the keys are the envelope's")
    case (.failure(let failure), .failure(let bare)):
        // Some of the vectors contain messages that are authentic and wrong.
        let isDocumented = [.unknownKey, .undecryptable, .malformed, .expired, .notYetValid].contains(failure)
        try require(isDocumented && failure == bare, "\(failure) is documented and has no other reason")
    default: throw Violation(description: "outer members decide whether a payload opens")
    }
}

/// Opens with the trust that the payload asks for; the outer parser doesn't know it.
private func openingOuter(_ input: [UInt8]) -> Result<OpenedPush, FailureClass> {
    let isSigned = ((try? JSONText(input))?.root["pushcrypt"]?["skid"]) != nil
    return Result { try FuzzKeys.shared.opener(FuzzKeys.shared, isSigned: isSigned) }.mapError { _ in .internalError }
        .flatMap { $0.open(input, at: FuzzKeys.now) }
}

private func checkOuter(_ outer: OuterPayload, _ text: JSONText, _ tree: SlowJSON) throws {
    let envelope = try require(tree["pushcrypt"], "an accepted payload has an envelope")
    try require(envelope["v"]?.integer == 1, "the version is the integer 1")
    try require(envelope["sealed"]?.bytes == Base64URL.encode(outer.sealed.bytes), "sealed is canonical")
    try require(envelope["kid"]?.bytes == Array(outer.kid.utf8), "kid is the member")
    try require(envelope["skid"]?.bytes == outer.skid.map { Array($0.utf8) }, "skid is the member")
    try require(tree["aps"]?["mutable-content"]?.integer == 1, "an accepted payload is mutable")
    try require(tree["aps"]?["alert"]?.hasAlertText == true, "an accepted payload has alert text")
    try require(!outer.sealed.isEmpty, "sealed isn't empty")
    // Writing the same envelope again, and another one.
    for sealed in [outer.sealed, outer.sealed.reversed() + [1]] {
        let written = try OuterPayload.replacingEnvelope(
            of: text, at: .standard, kid: outer.kid, skid: outer.skid, sealed: sealed)
        let read = try OuterPayload(JSONText(written))
        try require(
            read.sealed == sealed && read.kid == outer.kid && read.skid == outer.skid, "what was written is read")
        let names: Set = ["kid", "skid", "sealed"]
        let rest = try require(SlowJSON(written), "what was written is JSON")
        try require(rest.removing(["pushcrypt"]) == tree.removing(["pushcrypt"]), "outer members are kept")
        try require(rest["pushcrypt"]?.removing(names) == envelope.removing(names), "unknown members are kept")
    }
}

func expect(_ failures: [FailureClass], _ result: Result<OpenedPush, FailureClass>) throws {
    switch result {
    case .success: throw Violation(description: "opened, not \(failures)")
    case .failure(let found): try require(failures.contains(found), "\(found) is one of \(failures)")
    }
}

extension SlowJSON {
    fileprivate var isObject: Bool {
        if case .object = self { true } else { false }
    }

    fileprivate var hasAlertText: Bool {
        if let text = bytes { return String(decoding: text, as: UTF8.self).isVisible }
        return ["title", "subtitle", "body", "loc-key", "title-loc-key"].contains {
            self[$0]?.bytes.map { String(decoding: $0, as: UTF8.self).isVisible } == true
        }
    }
}

/// A message that is mutated before it is sealed, so that it reaches the code behind the AEAD, and damage that is done
/// afterwards.
///
/// ```
/// input = key (bit 7: signed) || damage || place(2) || message
/// ```
func fuzzMessage(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    let selector = input.byte()
    let damage = Damage(rawValue: input.byte() % Damage.allCases.count) ?? .none
    let place = input.number()
    let channel = FuzzKeys.shared.channels[selector & 0x7f % FuzzKeys.shared.channels.count]
    let (message, isSigned) = (Array(input.rest), selector & 0x80 != 0)
    let delivery = MessageDelivery(channel: channel, isSigned: isSigned, message: message)
    switch damage {
    case .none: try delivery.open()
    case .flip: try delivery.expectUndecryptable { $0.flippingBit(place) }
    case .cut: try delivery.expectUndecryptable { $0.dropLast(1 + place % $0.count) }
    case .extend: try delivery.expectUndecryptable { $0 + [UInt8(place & 0xff)] }
    case .topic: try delivery.expectUndecryptable(topic: "com.example.other") { $0 }
    case .signature: try delivery.expectRefusedSignature(place)
    case .raw:
        guard !message.isEmpty else { return }
        try delivery.expectUndecryptable { _ in message }
    }
    if damage == .none { try fuzzInner(message) }
}

private enum Damage: Int, CaseIterable {
    case none, flip, cut, extend, topic, signature, raw
}

private struct MessageDelivery {
    let channel: FuzzKeys.Channel
    let isSigned: Bool
    let message: [UInt8]

    private var keys: FuzzKeys { .shared }

    private func sealed() throws -> [UInt8] {
        try Envelope.seal(message, to: channel.recipient, signer: isSigned ? keys.signer : nil, topic: keys.topic)
    }

    /// The payload has members outside that must not be seen inside.
    private func payload(_ sealed: [UInt8], hasSKID: Bool) -> [UInt8] {
        let skid = hasSKID ? #","skid":"\#(keys.signer.kid)""# : ""
        let sealed = Base64URL.encode(sealed)
        return Array(
            """
            {"aps":{"alert":"OUTSIDE","mutable-content":1,"badge":77,"category":"OUTSIDE"},"OUTSIDE":[1],
            "pushcrypt":{"v":1,"kid":"\(channel.key.kid)","sealed":"\(sealed)"\(skid)}}
            """.utf8)
    }

    private func opening(_ payload: [UInt8], isPinned: Bool, topic: String? = nil) throws -> Result<
        OpenedPush, FailureClass
    > {
        try keys.opener(FuzzKeys.One(key: channel.key), isSigned: isPinned, topic: topic).open(
            payload, at: FuzzKeys.now)
    }

    func open() throws {
        let payload = payload(try sealed(), hasSKID: isSigned)
        // The recipient's trust must match the payload.
        try expect([isSigned ? .unknownKey : .undecryptable], opening(payload, isPinned: !isSigned))
        let expectation = MessageExpectation(
            message, channel.key.proof(isSigned: isSigned), at: FuzzKeys.now)
        switch (try opening(payload, isPinned: isSigned), expectation) {
        case (.failure(let failure), .refused(let expected)):
            try require(failure == expected, "\(failure) is \(expected)")
        case (.success(let push), .opened(let tree)): try check(push, tree)
        case (.success, .refused(let expected)): throw Violation(description: "opened, not \(expected)")
        case (.failure(let failure), .opened): throw Violation(description: "\(failure), although the message is valid")
        }
    }

    private func check(_ push: OpenedPush, _ tree: SlowJSON) throws {
        try require(
            SlowJSON(push.payload) == tree.removing(["pushcrypt"]), "the payload is the message without its header")
        try require(push.paddingByteCount == message.reversed().prefix { $0 == 0x20 }.count, "padding is counted")
        let removed = message.count - push.paddingByteCount - push.payload.count
        let front = zip(push.payload, message).prefix { $0 == $1 }.count
        let isOneCut = (0...min(front, push.payload.count)).contains { start in
            push.payload[start...].elementsEqual(message[(start + removed)...].prefix(push.payload.count - start))
        }
        try require(isOneCut, "the payload is the message without one range of bytes")
        try require(
            push.messageID == tree["pushcrypt"]?["id"]?.bytes.map { String(decoding: $0, as: UTF8.self) },
            "the id is read")
        try require(push.signedBy == (isSigned ? keys.signer.kid : nil), "the signer is read")
        try require(
            Set(push.attachments.compactMap(\.id)).count == push.attachments.compactMap(\.id).count, "ids are distinct")
        _ = (push.content, push.pushID, push.offload, push.isSelfTest)
    }

    /// Whatever the message contains, damage outside of it always has the same class.
    func expectUndecryptable(topic: String? = nil, _ damage: ([UInt8]) -> [UInt8]) throws {
        let damaged = damage(try sealed())
        guard !damaged.isEmpty else { return }
        let payload = payload(damaged, hasSKID: isSigned)
        try expect([.undecryptable], opening(payload, isPinned: isSigned, topic: topic))
    }

    /// A valid ciphertext with a wrong signature inside, or with less than one.
    func expectRefusedSignature(_ place: Int) throws {
        guard case .recipient(let publicKey, _, _) = channel.record.material, publicKey.type == .x25519,
            !channel.record.hasPSK
        else { return }
        let info = info
        let name = try channel.recipient.backend.sha256(publicKey.serialized.bytes)
        let input = Array("pushcrypt/1 signature".utf8) + [0] + info + name + message
        var signature = try signature(input)
        if place & 0x8000 == 0 {
            signature = signature.flippingBit(place)
        } else {
            signature.removeLast(1 + place % 64)
        }
        let plaintext = place & 0x8000 == 0 ? signature + message : signature
        let hpke = HPKE(kem: .dhkemX25519, aead: .aes128GCM, backend: channel.recipient.backend)
        var sealed = [UInt8]()
        try hpke.seal(plaintext.bytes, to: publicKey, info: info.bytes, appendingTo: &sealed)
        try expect([.undecryptable], opening(payload(sealed, hasSKID: true), isPinned: true))
    }

    private func signature(_ input: [UInt8]) throws -> [UInt8] {
        guard case .sender(_, let key?) = keys.senderRecord.material else { return [] }
        return try key.signature(for: input.bytes)
    }

    /// The context of a signed message to a key of suite 2 (docs/protocol.md section 4).
    private var info: [UInt8] {
        func prefixed(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }
        return Array("pushcrypt/1".utf8) + [0, 2, 2] + prefixed("\(channel.key.kid)") + prefixed("\(keys.signer.kid)")
            + prefixed("\(keys.topic)")
    }
}

/// What the protocol says about a message (docs/protocol.md section 5), computed from ``SlowJSON``.
private enum MessageExpectation {
    case opened(SlowJSON)
    case refused(FailureClass)

    init(_ message: [UInt8], _ proof: SenderProof, at time: UnixTime) {
        let end = (message.lastIndex { $0 != 0x20 } ?? -1) + 1
        guard end <= 262_144, let tree = SlowJSON(message[..<end]), tree.valueCount <= 16_384,
            tree["aps"]?["alert"]?.hasAlertText == true, let header = tree["pushcrypt"],
            header["id"]?.bytes.map({ $0.count == 22 && Base64URL.isCanonical($0[...]) }) == true,
            let issued = header["iat"]?.integer, let expires = header["exp"]?.integer,
            issued < expires, expires - issued <= 2_592_000, Self.hasValidExtras(message, proof)
        else {
            self = .refused(.malformed)
            return
        }
        let now = Int(time.seconds)
        if issued > now + 600 {
            self = .refused(.notYetValid)
        } else if expires <= now || issued < now - 2_592_000 {
            self = .refused(.expired)
        } else {
            self = .opened(tree)
        }
    }

    /// The target `reference` compares the references with their grammar.
    private static func hasValidExtras(_ message: [UInt8], _ proof: SenderProof) -> Bool {
        (try? InnerPayload(message: message))?.header(proof: proof) != nil
    }
}

/// The message as an inner payload to seal, and as an offloaded payload.
private func fuzzInner(_ message: [UInt8]) throws {
    let header = MessageHeader(id: Array(0..<16), issuedAt: FuzzKeys.now, expiresAt: FuzzKeys.now + 60)
    do {
        let inner = try InnerPayload(json: message)
        let sealed = try InnerPayload(json: inner.message(with: header))
        try require(sealed.header(proof: .signature) == header, "the added header is read")
        try require(sealed.withoutHeader == message, "removing the header restores the payload")
        let offloaded = try OffloadedPayload.plaintext(json: message)
        try require(offloaded.count % 4_096 == 0 && offloaded.starts(with: message), "padded to 4 KiB")
        let read = try OffloadedPayload.innerPayload(plaintext: offloaded)
        let end = (message.lastIndex { $0 != 0x20 } ?? -1) + 1
        try require(read.text.bytes == Array(message[..<end]), "an offloaded payload is read again")
    } catch is JSONError {
        try require(SlowJSON(message) == nil, "strict JSON is accepted")
    } catch let flaw as InnerPayload.Flaw {
        try require(!flaw.reason.isEmpty, "a flaw has a reason")
        let tree = SlowJSON(message)
        let isSealable = tree?["aps"]?["alert"]?.hasAlertText == true && tree?["pushcrypt"] == nil
        try require(
            !isSealable || message.count > 262_144 - 128 || (tree?.valueCount ?? 0) > 16_380,
            "an alert payload is accepted: \(flaw.reason)")
    }
}
