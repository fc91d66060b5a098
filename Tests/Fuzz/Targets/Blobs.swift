import Foundation
import PushCryptCore
import PushCryptPrimitives

/// A blob that is sealed, damaged and opened in pieces.
///
/// ```
/// input = control || length(2) || piece(2) || place(2) || pattern
/// control: 0 intact, 1 flipped bit, 2 cut, 3 extended, 4 another purpose, 5 pattern as the blob; bit 7: a payload's blob
/// ```
func fuzzBlob(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    let control = input.byte()
    // Half of the lengths are short, for speed; the others are up to two chunks.
    let size = input.number()
    let length = size < 0x8000 ? size & 0xfff : (size & 0x7fff) * 4
    // Not too many pieces, for speed.
    let (piece, place) = (max(input.number() + 1, length / 500), input.number())
    let pattern = input.rest.isEmpty ? [0] : Array(input.rest)
    let purpose: BlobPurpose = control & 0x80 == 0 ? .attachment : .payload
    guard control & 0x7f != 5 else { return try openForeignBlob(pattern, purpose, piece) }
    let plaintext = (0..<length).map { pattern[$0 % pattern.count] }
    let sealed = try seal(plaintext, purpose, piece)
    let (whole, reference) = (sealed.blob, sealed.reference)
    try require(Int64(whole.count) == reference.blobByteCount, "the length of a blob is known")
    try require(reference.size == Int64(length), "the size is the plaintext's")
    var opened = reference
    var damaged = whole
    switch control & 0x7f {
    case 0: break
    case 1: damaged = whole.flippingBit(place << 4 | place & 15)
    case 2: damaged.removeLast(1 + place % whole.count)
    case 3: damaged.append(UInt8(place & 0xff))
    default:
        let other: BlobPurpose = purpose == .payload ? .attachment : .payload
        opened = try require(
            BlobReference(other, key: reference.key, size: reference.size, sha256: reference.sha256), "a reference")
    }
    let result = open(damaged, opened, piece)
    try require(plaintext.starts(with: result.plaintext), "an opener returns only what was sealed")
    if control & 0x7f == 0 {
        try require(result.failure == nil && result.plaintext == plaintext, "an intact blob opens")
    } else {
        try require(result.failure == .undecryptable, "a damaged blob is undecryptable")
    }
}

private func seal(
    _ plaintext: [UInt8], _ purpose: BlobPurpose, _ piece: Int
) throws -> (blob: [UInt8], reference: BlobReference) {
    let sealer = try BlobSealer(purpose)
    var blob = [UInt8]()
    for start in stride(from: 0, to: plaintext.count, by: piece) {
        try sealer.seal(Array(plaintext[start..<min(start + piece, plaintext.count)]), appendingTo: &blob)
    }
    let reference = try sealer.finish(appendingTo: &blob)
    return (blob, reference)
}

private func open(
    _ blob: [UInt8], _ reference: BlobReference, _ piece: Int
) -> (plaintext: [UInt8], failure: FailureClass?) {
    let opener = BlobOpener(reference)
    var plaintext = [UInt8]()
    do throws(FailureClass) {
        for start in stride(from: 0, to: blob.count, by: piece) {
            try opener.open(Array(blob[start..<min(start + piece, blob.count)]), appendingTo: &plaintext)
        }
        try opener.finish()
        return (plaintext, nil)
    } catch {
        return (plaintext, error)
    }
}

/// A blob with the right length and digest, which wasn't sealed under the key.
private func openForeignBlob(_ blob: [UInt8], _ purpose: BlobPurpose, _ piece: Int) throws {
    let key = SecretBytes(copying: [UInt8](repeating: 7, count: 32).bytes)
    let digest = try DefaultBackend.shared.sha256(blob.bytes)
    for size in [blob.count - 20, blob.count - 36, blob.count] {
        guard let reference = BlobReference(purpose, key: key, size: Int64(size), sha256: digest) else {
            try require(size < 0, "a reference may have any size")
            continue
        }
        let result = open(blob, reference, piece)
        try require(result.failure == .undecryptable && result.plaintext.isEmpty, "a foreign blob is undecryptable")
    }
}

/// The input as the JSON of an attachment's or offloaded payload's reference, and as a message header.
func fuzzReferences(_ input: [UInt8]) throws {
    guard let text = try? JSONText(input) else {
        try require((try? AttachmentReference(json: input)) == nil, "references are strict JSON")
        return try require((try? OffloadReference(json: input)) == nil, "references are strict JSON")
    }
    let tree = try require(SlowJSON(input), "the slow reader accepts what JSONText accepts")
    do {
        let reference = try AttachmentReference(json: input)
        try checkURL(reference.url)
        try require(
            hasBlob(tree) && hasType(tree) && hasID(tree) && hasUse(tree), "an attachment's reference has its members")
        let again = try AttachmentReference(json: reference.json)
        try require(again == reference && again.json == reference.json, "a written reference is read again")
        let checked = try AttachmentReference(
            url: reference.url, blob: reference.blob, type: reference.type, id: reference.id, use: reference.use)
        try require(checked == reference, "the sender's checks accept what the reader accepts")
    } catch let error as BlobError {
        try require(error.code == .invalidReference, "the code is invalidReference")
        let isValid = hasBlob(tree) && hasType(tree) && hasID(tree) && hasUse(tree) && hasURL(tree)
        try require(!isValid, "a valid attachment's reference is accepted")
    }
    do {
        let reference = try OffloadReference(json: input)
        try checkURL(reference.url)
        try require(try OffloadReference(json: reference.json) == reference, "a written reference is read again")
        try require(reference.blob.size <= 262_144, "an offloaded payload has a limit")
    } catch let error as BlobError {
        try require(error.code == .invalidReference, "the code is invalidReference")
        try require(!(hasBlob(tree, 262_144) && hasURL(tree)), "a valid offloaded payload's reference is accepted")
    }
    try fuzzHeader(text)
}

private func fuzzHeader(_ text: JSONText) throws {
    guard let header = MessageHeader(text.root, proof: .signature) else { return }
    let member = try JSONText([UInt8(ascii: "{")] + header.rawMember + [UInt8(ascii: "}")])
    try require(MessageHeader(member.root["pushcrypt"], proof: .signature) == header, "a written header is read again")
    try require(
        (1...2_592_000).contains(header.expiresAt.seconds - header.issuedAt.seconds),
        "a header's times are in the window")
    try require(header.extras.attachments.count <= 8, "a message has at most 8 attachments")
    try require(
        header.extras.retractedIDs.allSatisfy { matches($0, "[A-Za-z0-9_-]{21}[AQgw]") }, "message ids are retracted")
    try require(
        !header.extras.isQuiet || (text.root["attachments"] == nil && text.root["offload"] == nil),
        "a quiet message fetches nothing")
    try require(
        header.extras.attachments.count { $0.use == .avatar } <= 1, "a message has at most one avatar")
    let base = try require(MessageHeader(text.root, proof: []), "the base profile refuses nothing more")
    try require(!base.extras.hasInstructions, "the base profile has no instructions")
}

/// Foundation reads the same host, and neither a user nor a fragment.
private func checkURL(_ url: String) throws {
    try require(isURL(url), "the URL matches the grammar")
    let components = try require(URLComponents(string: url), "Foundation reads the URL")
    let host = url.dropFirst(8).prefix { !":/?".contains($0) }
    try require(
        components.scheme == "https" && components.percentEncodedHost == String(host), "Foundation reads the same host")
    try require(components.user == nil && components.password == nil, "a URL has no user")
    try require(components.fragment == nil, "a URL has no fragment")
}

private func matches(_ text: String, _ pattern: String) -> Bool {
    text.range(of: "\\A(?:\(pattern))\\z", options: .regularExpression) != nil
}

private func isURL(_ text: String) -> Bool {
    let authority = text.dropFirst(8).prefix { !"/?".contains($0) }.split(separator: ":")
    return text.utf8.count <= 2_048 && (authority.first?.utf8.count ?? 0) <= 253
        && authority.dropFirst().allSatisfy { (1...65_535).contains(Int($0) ?? 0) }
        && matches(
            text,
            "https://[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)*(:[0-9]{1,5})?"
                + "([/?]([A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?")
}

private func hasURL(_ tree: SlowJSON) -> Bool { tree.text("url").map(isURL) == true }

private func hasType(_ tree: SlowJSON) -> Bool {
    tree.text("type").map { matches($0, "[a-z0-9][a-z0-9.+_-]{0,63}/[a-z0-9][a-z0-9.+_-]{0,63}") } == true
}

private func hasID(_ tree: SlowJSON) -> Bool {
    tree["id"] == nil || tree.text("id").map { matches($0, "[A-Za-z0-9_-]{1,64}") } == true
}

private func hasUse(_ tree: SlowJSON) -> Bool { tree["use"] == nil || tree.text("use") == "avatar" }

private func hasBlob(_ tree: SlowJSON, _ limit: Int = 1 << 48) -> Bool {
    func hasBytes(_ name: String) -> Bool {
        tree.text(name).map { matches($0, "[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]") } == true
    }
    return hasBytes("key") && hasBytes("sha256") && tree["size"]?.integer.map { $0 <= limit } == true
}

extension SlowJSON {
    fileprivate func text(_ name: String) -> String? {
        self[name]?.bytes.map { String(decoding: $0, as: UTF8.self) }
    }
}
