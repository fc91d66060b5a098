import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("PublicationPolicy")
struct PublicationPolicyTests {
    private static let id = [UInt8](repeating: 7, count: 16)

    static func policy(days: Int64 = 60, epoch: Int64 = 1, topics: [String] = ["com.example.app"]) throws
        -> PublicationPolicy
    {
        try PublicationPolicy(
            set: id, topics: topics.map { try Topic($0) }, epoch: epoch, validForInSeconds: days * 86_400)
    }

    private func parsed(_ json: String) throws -> PublicationPolicy {
        try PublicationPolicy(JSONText(Array(json.utf8)).root)
    }

    @Test(
        "A policy that is written reads back", arguments: [1, 60, 90] as [Int64],
        [0, 1, 9_007_199_254_740_991] as [Int64])
    func roundTrip(days: Int64, epoch: Int64) throws {
        let policy = try Self.policy(days: days, epoch: epoch, topics: ["com.example.app", "com.example.other"])
        #expect(try parsed(policy.json) == policy)
    }

    @Test(
        "A policy with a missing or wrong member is refused",
        arguments: [
            ("\"BwcHBwcHBwcHBwcHBwcHBw\"", "\"BwcHBwcHBwcHBwcHBwcH\""), ("\"BwcHBwcHBwcHBwcHBwcHBw\"", "1"),
            ("[\"com.example.app\"]", "[]"), ("[\"com.example.app\"]", "[1]"),
            ("[\"com.example.app\"]", "[\"a b\"]"), ("[\"com.example.app\"]", "[\"a\", \"a\"]"),
            ("[\"com.example.app\"]", "\"com.example.app\""), ("\"epoch\": 1", "\"epoch\": -1"),
            ("\"epoch\": 1", "\"epoch\": 9007199254740992"), ("\"epoch\": 1", "\"epoch\": \"1\""),
            ("P60D", "P91D"), ("P60D", "PT0S"), ("P60D", "60d"), ("\"set\"", "\"other\""), ("\"topics\"", "\"other\""),
            ("\"epoch\"", "\"other\""), ("\"validFor\"", "\"other\""),
        ])
    func refused(_ old: String, _ new: String) throws {
        let json = try Self.policy().json
        let edited = json.replacing(old, with: new)
        try #require(edited != json)
        #expect(throws: KeyError.self) { try parsed(edited) }
    }

    @Test("A policy with 16 topics is made, and one with 17 topics throws invalidPolicy")
    func tooManyTopics() throws {
        _ = try Self.policy(topics: (0..<16).map { "app\($0)" })
        let error = #expect(throws: KeyError.self) { try Self.policy(topics: (0..<17).map { "app\($0)" }) }
        #expect(error?.code == .invalidPolicy)
    }

    @Test("A change keeps the id and every value that isn't given")
    func changed() throws {
        func change(_ old: PublicationPolicy?, _ topics: [Topic]?, _ epoch: Int64?, _ seconds: Int64?) throws
            -> PublicationPolicy
        {
            try PublicationPolicy(changing: old, topics: topics, epoch: epoch, validForInSeconds: seconds) { Self.id }
        }
        let first = try change(nil, [Topic("a")], nil, nil)
        #expect((first.set, first.epoch, first.validForInSeconds) == (Self.id, 1, 60 * 86_400))
        let later = try PublicationPolicy(changing: first, topics: nil, epoch: 4, validForInSeconds: 9 * day) { [] }
        #expect((later.set, later.topics, later.epoch, later.validForInSeconds) == (Self.id, first.topics, 4, 9 * day))
        #expect(try change(later, nil, nil, nil) == later)
        #expect(try change(later, nil, 4, nil) == later)
        let refused: [(PublicationPolicy?, [Topic]?, Int64)] = [
            (nil, nil, 2), (later, nil, 3), (later, [try Topic("b")], 0),
        ]
        for (old, topics, epoch) in refused {
            let error = #expect(throws: KeyError.self) { try change(old, topics, epoch, nil) }
            #expect(error?.code == .invalidPolicy)
        }
    }

    @Test(
        "A set is expiring below a third of its validity and expired from validUntil on",
        arguments: [
            (-1, .valid), (0, .valid), (40 * day, .valid), (40 * day + 1, .expiring), (60 * day - 1, .expiring),
            (60 * day, .expired), (600 * day, .expired),
        ] as [(Int64, SenderSetPublication.Condition)])
    func condition(_ seconds: Int64, _ expected: SenderSetPublication.Condition) throws {
        let set = try Self.policy().publication(sequence: 1, issuedAt: .days(100))
        #expect(set.condition(at: .days(100) + seconds) == expected)
    }

    @Test("A set is signed for earlier epochs, and never for later ones")
    func epochs() throws {
        let set = try Self.policy(epoch: 3).publication(sequence: 1, issuedAt: .days(100))
        #expect(try set.with(epoch: nil) == set && set.with(epoch: 3) == set)
        #expect(try set.with(epoch: 1).epoch == 1)
        #expect(throws: KeyError.self) { try set.with(epoch: 4) }
        #expect(throws: KeyError.self) { try set.with(epoch: -1) }
    }
}
