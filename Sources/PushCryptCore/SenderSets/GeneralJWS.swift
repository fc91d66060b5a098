import PushCryptPrimitives

/// A JWS in general JSON serialisation (RFC 7515 section 7.2.1) with Ed25519 signatures (RFC 9864).
///
/// ```
/// {"payload": BASE64URL, "signatures": [{"protected": BASE64URL(HEADER), "signature": BASE64URL(64 bytes)}, ... at most 8]}
/// HEADER    = {"alg": "Ed25519", "kid": KID, "typ": "pushcrypt-senders+jws"}
/// signature = Ed25519(publisher's key, ASCII(protected || "." || payload))                     RFC 7515 section 5.1
/// ```
/// The objects have no other members. Entries of another form, and entries with another `alg` or `typ`, are skipped, so
/// that a document may have signatures that only other readers know.
struct GeneralJWS {
    /// An entry of the form above. Its signature isn't verified yet.
    private struct Entry {
        let kid: KeyID
        let signature: [UInt8]
        let signingInput: [UInt8]
    }

    let payload: [UInt8]
    private let entries: [Entry]

    static let algorithm = "Ed25519"
    static let type = "pushcrypt-senders+jws"
    private static let signatureByteCount = 64

    /// - Throws: `KeyError` with `malformed`, `tooLarge`.
    init(_ document: [UInt8]) throws(KeyError) {
        guard document.count <= SignedSenderSet.maximumByteCount else {
            throw KeyError(.tooLarge, "the signed set is longer than \(SignedSenderSet.maximumByteCount) bytes")
        }
        let root: JSONValue
        do { root = try JSONText(document).root } catch {
            throw KeyError(.malformed, "the signed set is not a JSON text: \(error)")
        }
        guard root.hasExactly("payload", "signatures"), let list = root["signatures"], list.kind == .array else {
            throw KeyError(
                .malformed,
                "the signed set is not a JWS in general JSON serialisation, with payload and signatures only")
        }
        guard let encoded = root["payload"]?.utf8, let payload = Base64URL.decode(encoded) else {
            throw KeyError(.malformed, "the payload of the signed set is not base64url")
        }
        let elements = list.elements
        guard elements.count <= SignedSenderSet.maximumSignatureCount else {
            throw KeyError(
                .tooLarge,
                "the signed set has \(elements.count) signatures; at most \(SignedSenderSet.maximumSignatureCount) are allowed"
            )
        }
        self.payload = payload
        entries = elements.compactMap { Self.entry($0, encodedPayload: encoded) }
    }

    private static func entry(_ element: JSONValue, encodedPayload: ArraySlice<UInt8>) -> Entry? {
        guard element.hasExactly("protected", "signature"), let protected = element["protected"]?.utf8,
            let signature = element["signature"]?.utf8.flatMap(Base64URL.decode), signature.count == signatureByteCount,
            let header = Base64URL.decode(protected).flatMap({ try? JSONText($0) })?.root,
            header.hasExactly("alg", "kid", "typ"), header["alg"]?.isString(algorithm) == true,
            header["typ"]?.isString(type) == true,
            let kid = header["kid"]?.utf8.flatMap(KeyID.init(utf8:))
        else { return nil }
        return Entry(kid: kid, signature: signature, signingInput: signingInput(protected, encodedPayload))
    }

    private static func signingInput(_ protected: ArraySlice<UInt8>, _ payload: ArraySlice<UInt8>) -> [UInt8] {
        protected + [UInt8(ascii: ".")] + payload
    }

    /// The publishers that the entries name. No signature is verified.
    var namedSigners: Set<KeyID> { Set(entries.map(\.kid)) }

    /// The first of the keys that has signed the payload; nil if none has. A document never brings its own key.
    ///
    /// - Throws: `KeyError` with `backendFailure` if the library could not verify a signature.
    func signer(among publishers: [KeyRecord]) throws(KeyError) -> KeyID? {
        for entry in entries {
            guard case .publisher(let key, _) = publishers.first(where: { $0.kid == entry.kid })?.material else {
                continue
            }
            do {
                if try key.isValid(entry.signature.bytes, for: entry.signingInput.bytes) { return entry.kid }
            } catch {
                throw KeyError(.backendFailure, "\(error)")
            }
        }
        return nil
    }

    /// Writes the document, with a line feed at its end. The same keys and payload give the same bytes.
    ///
    /// - Throws: `KeyError` with `notSigned` without keys, `wrongKind` for a key that isn't a publisher's private key.
    static func sign(_ payload: [UInt8], by publishers: [KeyRecord]) throws -> [UInt8] {
        guard !publishers.isEmpty else {
            throw KeyError(.notSigned, "no publisher key signs the set: add a key to the publisher keyset")
        }
        var encodedPayload = [UInt8]()
        Base64URL.append(payload.bytes, to: &encodedPayload)
        var output = Array(#"{"payload":""#.utf8)
        output += encodedPayload
        output += #"","signatures":["#.utf8
        for (index, publisher) in publishers.sorted(by: { $0.kid < $1.kid }).enumerated() {
            guard case .publisher(_, let key?) = publisher.material else {
                throw KeyError(.wrongKind, "key \(publisher.kid) is not a publisher's private key")
            }
            let header = #"{"alg":"\#(algorithm)","kid":"\#(publisher.kid)","typ":"\#(type)"}"#
            let protected = Array(Base64URL.encode(Array(header.utf8)).utf8)
            let input = signingInput(protected[...], encodedPayload[...])
            let signature = try key.signature(for: input.bytes)
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output += #"{"protected":""#.utf8
            output += protected
            output += #"","signature":"\#(Base64URL.encode(signature))"}"#.utf8
        }
        output += "]}\n".utf8
        return output
    }
}
