import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptRecipients

/// The input as a JWK or a JWK set: read, written, read again, published.
func fuzzKeySet(_ input: [UInt8]) throws {
    try expectKeyError { _ = try Recipient(jwk: input) }
    try expectKeyError { _ = try SenderKey(jwk: input) }
    try expectKeyError { _ = try TrustedSenders(json: input) }
    var keyset: Keyset?
    try expectKeyError { keyset = try Keyset(json: input) }
    guard let keyset else { return }
    try require(SlowJSON(input) != nil, "a key set is strict JSON")
    let written = try keyset.jwkSet(withHistory: true)
    let again = try Keyset(json: written)
    try require(again.hasSameContent(as: keyset), "a written set is read again")
    try require(try again.jwkSet(withHistory: true) == written, "a set is written in one way")
    for kid in keyset.keyIDs { _ = keyset.state(of: kid, at: FuzzKeys.now) }
    try expectKeyError { _ = try keyset.recipient(at: FuzzKeys.now) }
    try expectKeyError { _ = try keyset.senderKey(at: FuzzKeys.now) }
    try expectKeyError {
        let device = try keyset.device(DeviceID("fuzz"))
        try require(device.keyIDs == keyset.keyIDs, "a device's keys have the ids of their masters")
    }
    guard keyset.kind != .shared else { return }
    let published = try keyset.publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    guard case .array(let keys) = SlowJSON(published)?["keys"] else { throw Violation(description: "no keys") }
    for key in keys {
        try require(["d", "priv", "k", "psk"].allSatisfy { key[$0] == nil }, "a published set contains no secret")
    }
    let read = try Keyset(json: published)
    try require(read.keyIDs == keyset.keyIDs && read.sequence == keyset.sequence, "a published set is read again")
    // A published set has neither `updatedAt` nor `createdAt`, which states depend on.
    let withoutHistory = try keyset.jwkSet(withHistory: false)
    for kid in keyset.keyIDs where withoutHistory == written {
        try require(
            read.state(of: kid, at: FuzzKeys.now) == keyset.state(of: kid, at: FuzzKeys.now), "states are published")
    }
}

func expectKeyError(_ body: () throws -> Void) throws {
    do {
        try body()
    } catch let error as KeyError {
        try require(error.code != .backendFailure, "no input makes the backend fail: \(error.reason)")
    }
}

/// The input as a file of another tool: PEM, DER, a raw key.
///
/// ```
/// input = kind of a raw key || file
/// ```
func fuzzContainer(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    let kinds: [ImportedKey.RawKind?] = [nil, .recipient(.p256), .recipient(.x25519), .sender, .shared]
    let kind = kinds[input.byte() % kinds.count]
    let file = Array(input.rest)
    if let key = try contained(file) { try writeContainers(key) }
    if let keyset = try imported(file, kind) {
        for entry in keyset.entries { try export(entry.record, keyset.kind) }
    }
}

private func contained(_ file: [UInt8]) throws -> ContainedKey? {
    do {
        return try KeyContainer.read(file.bytes)
    } catch let error as KeyContainerError {
        try require(error.code != .privateKeyMissing && error.code != .wrongPassphrase, "no passphrase was given")
        return nil
    }
}

private func writeContainers(_ key: ContainedKey) throws {
    let forms: [KeyContainer.Form] = key.privateKey == nil ? [.publicKey] : [.publicKey, .privateKey]
    for form in forms {
        for encoding in [KeyContainer.Encoding.pem, .der] {
            let written = try KeyContainer.write(key, as: form, encoding: encoding)
            let again = try KeyContainer.read(written.bytes)
            try require(again.publicKey == key.publicKey, "a written container has the same public key")
            try require((again.privateKey == nil) == form.isPublic, "a container has what its form names")
            try require(form.isPublic || again.privateKey == key.privateKey, "the private key is the same")
        }
    }
}

private func imported(_ file: [UInt8], _ kind: ImportedKey.RawKind?) throws -> Keyset? {
    do {
        return try ImportedKey.read(file, rawKind: kind, passphrase: nil)
    } catch let error as KeyError {
        try require(error.code != .backendFailure, "no input makes the backend fail: \(error.reason)")
    } catch let error as KeystoreError {
        try require(error.code == .secretNeeded, "no passphrase was given")
    }
    return nil
}

private func export(_ record: KeyRecord, _ kind: KeyKind) throws {
    try require(record.isPrivateAsymmetric || kind == .shared, "an imported key can open or sign")
    let jwk = try ExportedKey.privateKey(record, as: .jwk, passphrase: nil)
    let again = try ImportedKey.read(jwk, rawKind: nil, passphrase: nil)
    try require(again.keyIDs == [record.kid], "an exported key is imported again")
    let raw = try ExportedKey.privateKey(record, as: .raw, passphrase: nil)
    let rawKind: ImportedKey.RawKind =
        kind == .shared ? .shared : record.algorithm.keyPairType.map { .recipient($0) } ?? .sender
    let read = try ImportedKey.read(raw, rawKind: rawKind, passphrase: nil)
    try require(read.keyIDs == [record.kid], "an exported raw key is imported again")
}

extension KeyContainer.Form {
    fileprivate var isPublic: Bool {
        if case .publicKey = self { true } else { false }
    }
}

/// The input as a line of a directory of recipients.
func fuzzRecord(_ input: [UInt8]) throws {
    let name: RecordName
    do {
        name = try RecordName(JSONText(input).root)
    } catch is JSONError {
        return try require(SlowJSON(input) == nil, "JSONText accepts what the slow reader accepts")
    } catch let error as RecordFlaw {
        return try require(!error.reason.isEmpty, "a missing name has a reason")
    }
    let tree = try require(SlowJSON(input), "the slow reader accepts what JSONText accepts")
    try require(tree["kid"]?.bytes == Array("\(name.kid)".utf8), "the kid is the member")
    try require(tree["device"]?.bytes == name.device.map { Array("\($0)".utf8) }, "the device is the member")
    let stored = try require(StoredRecord(input, named: name), "a record is found under its name")
    let other = try require(RecordName(kid: "AAAAAAAAAAA", device: "fuzz"), "the name is valid")
    try require(name == other || StoredRecord(input, named: other) == nil, "a record has no other name")
    switch stored.result {
    case .success(let record):
        try require(record.kid == name.kid && !record.isPrivateAsymmetric, "a sender's record is public")
        // With these members the text is a set or an encrypted keyset to other readers.
        if tree["keys"] == nil, tree["sealed"] == nil { _ = try Recipient(jwk: input) }
        try require(record.isSameRecipient(as: record), "a record is the same as itself")
    case .failure(let flaw):
        try require(!flaw.reason.isEmpty, "a flaw has a reason")
        try require(!flaw.isPrivateKey || tree["d"] != nil, "only private keys are reported as such")
        try expectKeyError {
            _ = try Recipient(jwk: input)
            // A set of one key is no record.
            try require(tree["keys"] != nil, "what a sender accepts is a record")
        }
    }
}
