import Foundation
import PushCryptTestSupport
import Testing

@Suite("rotate", .ownThreads)
struct RotateTests {
    @Test("rotate prints each step with its reason, with and without --dry-run")
    func transcript() throws {
        let place = try Workplace()
        let old = try place.createAtNewYear("Keys/app")
        let dry = try place.run("rotate", "Keys/app", "--dry-run", "--at", "2026-03-25T00:00:00Z")
        #expect(dry.exit == 10)
        #expect(
            dry.text == """
                Keys/app at 2026-03-25T00:00:00Z
                  due      add a key, which seals from 2026-04-01T00:00:00Z
                           safe: key \(old) seals until 2026-04-01T00:00:00Z; the new one is published 7d before it seals

                """)
        let done = try place.run("rotate", "Keys/app", "--at", "2026-03-25T00:00:00Z")
        #expect(done.isSuccess, "\(done)")
        let new = try #require(try place.keys("Keys/app", at: "2026-03-25T00:00:00Z").last?.kid)
        #expect(
            done.text == """
                Keys/app at 2026-03-25T00:00:00Z
                  done     add key \(new), which seals from 2026-04-01T00:00:00Z
                           safe: key \(old) seals until 2026-04-01T00:00:00Z; the new one is published 7d before it seals
                  next     2026-06-23T00:00:00Z: add a key, which seals from 2026-06-30T00:00:00Z

                """)
        let again = try place.run("rotate", "Keys/app", "--at", "2026-03-25T00:00:00Z")
        #expect(again.isSuccess, "\(again)")
        #expect(again.text.hasPrefix("Keys/app at 2026-03-25T00:00:00Z\n  nothing is due\n  next "))
    }

    @Test("nothing is due earlier than publishLead before the key retires", arguments: ["2026-01-01", "2026-03-24"])
    func early(_ day: String) throws {
        let place = try Workplace()
        try place.createAtNewYear("Keys/app")
        let before = try place.read("Keys/app/keyset.json")
        let plan = try place.rotate("Keys/app", at: day + "T00:00:00Z")
        #expect(plan.exit == 0)
        #expect(plan.done.isEmpty && plan.due.isEmpty && plan.blocked.isEmpty)
        #expect(plan.next?["step"] as? String == "add")
        #expect(plan.next?["at"] as? String == "2026-03-25T00:00:00Z")
        #expect(try place.read("Keys/app/keyset.json") == before)
    }

    /// Runs the tool every tenth day; tests of the library run every day.
    @Test("a year of rotations keeps one primary key and two keys that open, and every push opens")
    func year() throws {
        let place = try Workplace()
        try place.createAtNewYear("Keys/app")
        var sealed = [(day: Int, payload: Data)]()
        for day in stride(from: 0, through: 400, by: 10) {
            let time = String(1_767_225_600 + day * 86_400)
            let plan = try place.rotate("Keys/app", at: time)
            #expect(plan.exit == 0, "day \(day)")
            if plan.done == ["add"] { #expect(try place.rotate("Keys/app", at: time).done.isEmpty) }
            let states = try place.states("Keys/app", at: time)
            #expect(states.count { $0 == "primary" } == 1, "day \(day): \(states)")
            #expect(day < 90 || states.count { ["pending", "primary", "retiring"].contains($0) } >= 2, "day \(day)")
            if day % (LongTests.areEnabled ? 20 : 50) == 0 {
                sealed.append((day, try place.sealed(to: "Keys/app", at: time)))
            }
            for push in sealed where (20..<30).contains(day - push.day) {
                #expect(try place.opening(push.payload, with: "Keys/app", at: time) == "opened", "day \(day)")
            }
        }
        let keys = try place.keys("Keys/app", at: "2027-02-05T00:00:00Z")
        #expect(keys.map(\.state) == ["retiring", "primary", "destroyed", "destroyed", "destroyed"])
        #expect(Set(keys.map(\.kid)).count == 5)
        #expect(try Payload.member("keys", of: place.read("Keys/app/keyset.json")).map { ($0 as? [Any])?.count } == 2)
    }

    @Test("old pushes open until the overlap ends and then show the placeholder")
    func overlap() throws {
        let place = try Workplace()
        let old = try place.createAtNewYear("Keys/app", "shared", "--keep", "1")
        #expect(try place.rotate("Keys/app", at: "2026-03-25T00:00:00Z").done == ["add"])
        let push = try place.sealed(to: "Keys/app", at: "2026-03-31T23:59:59Z")
        #expect(try Payload.string("pushcrypt.kid", of: push) == old)
        let next = try place.sealed(to: "Keys/app", at: "2026-04-01T00:00:00Z")
        #expect(try Payload.string("pushcrypt.kid", of: next) != old)
        #expect(try place.opening(push, with: "Keys/app", at: "2026-04-30T00:00:00Z") == "opened")
        let keys = try place.keys("Keys/app", at: "2026-05-01T00:09:59Z")
        #expect(keys.map(\.state) == ["retiring", "primary"])
        #expect(keys[0]["expiresAt"] == "2026-05-01T00:10:00Z")
        #expect(try place.states("Keys/app", at: "2026-05-01T00:10:00Z") == ["expired", "primary"])
        #expect(try place.opening(push, with: "Keys/app", at: "2026-05-01T00:10:00Z") == "keyExpired")
        #expect(try place.rotate("Keys/app", at: "2026-05-02T00:00:00Z").done == ["destroy"])
        #expect(try place.opening(push, with: "Keys/app", at: "2026-05-02T00:00:00Z") == "unknownKey")
    }

    @Test("--now starts the next rotation early and only once")
    func now() throws {
        let place = try Workplace()
        try place.createAtNewYear("Keys/app")
        let plan = try place.rotate("Keys/app", at: "2026-02-01T00:00:00Z", "--now")
        #expect(plan.done == ["add"])
        #expect(plan.steps("done").first?["activatesAt"] as? String == "2026-02-08T00:00:00Z")
        #expect(try place.rotate("Keys/app", at: "2026-02-01T00:00:00Z", "--now").done.isEmpty)
        #expect(try place.states("Keys/app", at: "2026-02-08T00:00:00Z") == ["retiring", "primary"])
    }

    @Test("a late rotation adds the key at once with the whole publishLead")
    func late() throws {
        let place = try Workplace()
        try place.createAtNewYear("Keys/app")
        let plan = try place.rotate("Keys/app", at: "2026-12-01T00:00:00Z")
        #expect(plan.done == ["add"])
        #expect(try place.keys("Keys/app", at: "2026-12-01T00:00:00Z").last?["activatesAt"] == "2026-12-08T00:00:00Z")
    }

    @Test("the published set contains public keys and times and nothing else")
    func published() throws {
        let place = try Workplace()
        try place.createAtNewYear("Keys/push", "sender")
        _ = try place.rotate("Keys/push", at: "2026-03-25T00:00:00Z")
        let published = try place.read("Keys/push/public.jwks.json")
        #expect(published == (try place.run("keys", "export", "Keys/push").stdout))
        #expect(try Payload.member("pushcrypt.seq", of: published) as? Int == 2)
        let text = String(decoding: published, as: UTF8.self)
        for member in ["\"d\"", "\"k\"", "\"psk\"", "createdAt", "updatedAt", "audit", "policy"] {
            #expect(!text.contains(member), "\(member)")
        }
    }
}
