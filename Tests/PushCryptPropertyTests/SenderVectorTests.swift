import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Conformance/vectors/senders-v1.json: the names of messages by their senders, and pushes to apps that trust several senders.
@Suite("pushes of several senders, of the Python package") struct SenderVectorTests {
    struct File: Decodable, Sendable {
        let names: [Name]
        let trust: [String: [Sender]?]
        let pushes: [Push]
        let retractions: [Retraction]

        static let shared = Result { try Vectors.loadOwn("senders-v1.json", as: File.self) }
    }

    struct Name: Decodable, Sendable, CustomStringConvertible {
        /// base64url of 16 bytes, or nil.
        let set: String?
        let name: String?
        let messages: [String: String]

        var description: String { self.set ?? "name of \(name?.utf8.count ?? 0) bytes" }
    }

    /// An unsigned set and its sender's name, or a signed document and its pins.
    struct Sender: Decodable, Sendable {
        let keys: String?
        let name: String?
        let document: String?
        let pins: String?

        func trusted(topic: String, at time: UnixTime) throws -> TrustedSenders {
            if let keys { return try TrustedSenders(json: Array(keys.utf8), name: name ?? "") }
            let pins = try SenderSetPins(json: Array((pins ?? "").utf8))
            let document = try #require(Base64URL.decode(Array((document ?? "").utf8)[...]))
            let set = try SignedSenderSet.verify(document, publishers: pins.publishers)
            let state = try SenderSetState(accepting: set, pins: pins, topic: Topic(topic), stored: nil, at: time)
            return try TrustedSenders(set, revoked: state.revoked, graceInSeconds: 0)
        }
    }

    struct Push: Decodable, Sendable, CustomStringConvertible {
        let name: String
        let trust: String
        let keyset: String
        let topic: String
        let at: Int64
        let payload: String
        let failure: String?
        /// M, and M of the messages that it retracts.
        let message: String?
        let retract: [String]?
        let proof: UInt8?

        var description: String { name }

        func opened() throws -> Result<OpenedPush, FailureClass> {
            let sets = try #require(try File.shared.get().trust[trust])
            let senders = try sets?.map { try $0.trusted(topic: topic, at: UnixTime(at)) }
            let opener = try Opener(
                topic: topic, keyring: KeysetKeyring(Keyset(json: Array(keyset.utf8))),
                senders: senders.map { .pinned($0) } ?? .unsigned)
            return opener.open(Array(payload.utf8), at: UnixTime(at))
        }
    }

    /// Indexes into `pushes`, and whether the second one takes back the first.
    struct Retraction: Decodable, Sendable, CustomStringConvertible {
        let message: Int
        let retraction: Int
        let acts: Bool

        var description: String { "\(retraction) \(acts ? "takes back" : "leaves") \(message)" }
    }

    @Test("the name M of a message follows from its sender and its id", arguments: try File.shared.get().names)
    func name(_ vector: Name) throws {
        let sender = try vector.set.map { set in
            MessageSender(set: try #require(Base64URL.decode(Array(set.utf8)[...])))
        }
        for (id, name) in vector.messages {
            let id = try #require(Base64URL.decode(Array(id.utf8)[...]))
            #expect(try (sender ?? MessageSender(name: vector.name ?? "")).name(ofMessage: id) == name)
        }
        if vector.name == "" { #expect(try sender == nil && MessageSender(name: "") == .unnamed) }
    }

    @Test(
        "a push opens with its name and those that it retracts, or is refused, as the vector says",
        arguments: try File.shared.get().pushes)
    func push(_ vector: Push) throws {
        switch try vector.opened() {
        case .success(let push):
            #expect(vector.failure == nil && push.name == vector.message && push.profile == vector.proof)
            #expect(push.retractedNames == vector.retract)
        case .failure(let failure): #expect(failure.rawValue == vector.failure)
        }
    }

    @Test(
        "the extension takes back a message for its sender, and for no other sender",
        arguments: try File.shared.get().retractions)
    func retraction(_ vector: Retraction) throws {
        let folder = try TemporaryFolder()
        let store = SharedStore(folder: folder.path + "/store", role: .extension)
        let pushes = try File.shared.get().pushes
        let (message, retraction) = (pushes[vector.message], pushes[vector.retraction])
        func stamp(_ push: Push) throws -> MessageStamp { MessageStamp(try push.opened().get(), requestID: push.name) }
        let time = UnixTime(message.at)
        for push in [message, retraction] {
            let stamp = try stamp(push)
            #expect(store.reserve(stamp, at: time))
            let answer = try store.claim(stamp, isReserved: true, at: time)
            #expect(answer.refusal == nil)
            #expect(answer.dueRequestIDs == (push.name == retraction.name && vector.acts ? [message.name] : []))
        }
        #expect(try store.isRetracted(stamp(message)) == vector.acts)
    }

    @Test("the file has retractions that act and that don't, and both kinds of refusal")
    func counts() throws {
        let file = try File.shared.get()
        #expect(file.retractions.filter(\.acts).count == 13 && file.retractions.filter { !$0.acts }.count == 16)
        #expect(Set(file.pushes.compactMap(\.failure)) == ["undecryptable", "unknownKey"])
    }
}
