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

    @Test("a Data payload is sealed byte for byte in a call that changes the options") func dataWithOptions() throws {
        let payload = try seal { sealer, recipient, placeholder in
            let data = Data(Self.json.utf8)
            return try sealer.seal(data, to: recipient, placeholder: placeholder) { $0.padding = .none }
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

    @Test("a string and another collection of bytes are sealed byte for byte") func otherFormsOfBytes() throws {
        let bytes = Array(Self.json.utf8)
        for value in [Self.json, ContiguousArray(bytes)] as [any Encodable & Sendable] {
            #expect(try seal { try $0.seal(value, to: $1, placeholder: $2) } == Self.json)
        }
    }

    /// SwiftNIO's ByteBuffer encodes to base64, for example.
    @Test("a buffer that encodes to a JSON string is refused, and the error says what to give") func buffer() throws {
        struct Buffer: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(Data(PayloadTypeTests.json.utf8).base64EncodedString())
            }
        }
        let error = expectSenderError(.invalidPayload) { try seal { try $0.seal(Buffer(), to: $1, placeholder: $2) } }
        #expect(error?.reason.contains("its bytes") == true)
    }

    @Test("a date is sealed as ISO 8601, or as the sealer's encoder writes it") func date() throws {
        struct Visit: Encodable {
            let aps = ["alert": "x"]
            let at = Date(timeIntervalSince1970: 1_800_000_000)
        }
        #expect(
            try seal { try $0.seal(Visit(), to: $1, placeholder: $2) }
                == #"{"aps":{"alert":"x"},"at":"2027-01-15T08:00:00Z"}"#)
        let encoder = Sealer.standardEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let sealer = try Sealer(topic: "com.example.app", encoder: encoder, clock: { Channel.now })
        #expect(
            try seal { _, recipient, _ in try sealer.seal(Visit(), to: recipient) }
                == #"{"aps":{"alert":"x"},"at":1800000000}"#)
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
