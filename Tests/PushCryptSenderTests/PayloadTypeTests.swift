import Foundation
import PushCryptSender
import Testing

/// One function seals raw JSON and values that encode to JSON. It treats `Data` and `[UInt8]` as raw JSON, also behind a
/// generic parameter.
@Suite struct PayloadTypeTests {
    private static let json = #"{"z":1.10,"aps":{"alert":"x"}}"#

    private struct Payload: Encodable {
        struct APS: Encodable {
            let alert: String
        }

        let aps: APS
        let url: String
    }

    private func seal(_ body: (Sealer, Recipient, Placeholder) throws -> SealedPush) throws -> String {
        let channel = Channel.simple
        return try Reading(body(channel.sealer(), channel.recipient(), Channel.placeholder), channel).payload
    }

    @Test("a payload of type Data is sealed byte for byte") func data() throws {
        let payload = try seal { try $0.seal(Data(Self.json.utf8), to: $1, placeholder: $2) }
        #expect(payload == Self.json)
    }

    @Test("a payload of type [UInt8] is sealed byte for byte") func bytes() throws {
        let payload = try seal { try $0.seal(Array(Self.json.utf8), to: $1, placeholder: $2) }
        #expect(payload == Self.json)
    }

    @Test("a Data payload is sealed byte for byte in a call with options") func dataWithOptions() throws {
        let payload = try seal { sealer, recipient, placeholder in
            let data = Data(Self.json.utf8)
            return try sealer.seal(data, to: recipient, placeholder: placeholder, options: Sealer.Options())
        }
        #expect(payload == Self.json)
    }

    /// Part of a longer buffer, whose indices don't begin at 0.
    @Test("a slice of Data is sealed without the bytes around it") func slicedData() throws {
        let slice = Data("xx\(Self.json)".utf8).dropFirst(2)
        #expect(try seal { try $0.seal(slice, to: $1, placeholder: $2) } == Self.json)
    }

    @Test("an Encodable payload is sealed as its JSON") func encodable() throws {
        let value = Payload(aps: .init(alert: "x"), url: "https://example.com/a")
        let payload = try seal { try $0.seal(value, to: $1, placeholder: $2) }
        #expect(payload == #"{"aps":{"alert":"x"},"url":"https://example.com/a"}"#)
    }

    @Test("a dictionary is sealed as a JSON object") func dictionary() throws {
        let payload = try seal { try $0.seal(["aps": ["alert": "x"]], to: $1, placeholder: $2) }
        #expect(payload == #"{"aps":{"alert":"x"}}"#)
    }

    @Test("bytes behind a generic parameter are sealed byte for byte") func bytesBehindAGenericParameter() throws {
        for value in [Data(Self.json.utf8), Array(Self.json.utf8)] as [any Encodable & Sendable] {
            #expect(try seal { try $0.seal(value, to: $1, placeholder: $2) } == Self.json)
        }
    }

    /// A string and other collections of bytes are encoded as a JSON string or array, which isn't a payload.
    @Test("a string or another collection of bytes is refused") func otherFormsOfBytes() throws {
        let bytes = Array(Self.json.utf8)
        for value in [Self.json, ContiguousArray(bytes), ["json": bytes]] as [any Encodable & Sendable] {
            expectSenderError(.invalidPayload) { try seal { try $0.seal(value, to: $1, placeholder: $2) } }
        }
    }

    @Test("the error of a payload that can't be encoded is thrown") func encodingThatFails() throws {
        struct Unencodable: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "no"))
            }
        }
        #expect(throws: EncodingError.self) { try seal { try $0.seal(Unencodable(), to: $1, placeholder: $2) } }
    }
}
