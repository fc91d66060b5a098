import Testing

@testable import rehearsal

@Suite("what a rehearsal accepts as a result") struct TallyTests {
    private func tally(
        _ deliveries: [(text: String, user: String, failure: String?)], _ screens: [String: [String]]
    ) -> Tally {
        Tally(
            deliveries.map { Tally.Delivery(text: $0.text, user: $0.user, failure: $0.failure) }, screens: screens,
            userWithoutApp: "deleted")
    }

    @Test("pushes that are shown once, and failures of the user who deleted the app, are no flaw")
    func correct() {
        let tally = tally(
            [("1", "zoe", nil), ("1", "deleted", "Unregistered"), ("2", "deleted", "Unregistered")],
            ["zoe": ["1"], "deleted": ["2"]])
        #expect(tally.flaws == [] && tally.shownOnce == 2 && tally.failures == ["Unregistered": 2] && tally.lost == 0)
    }

    @Test("a push that one phone lost is a flaw, also if another phone's push is both shown and reported as failed")
    func hiddenLoss() {
        let tally = tally(
            [("1", "zoe", nil), ("1", "deleted", "Unregistered")], ["zoe": [], "deleted": ["1"]])
        #expect(tally.flaws == ["1 to zoe is lost"] && tally.lost == 1)
    }

    @Test(
        "on the phone without the app, as many placeholders as failed pushes are no flaw, and one more is",
        arguments: [2, 3])
    func placeholderOfDeletedApp(count: Int) {
        let screen = Array(repeating: Tally.placeholder, count: count)
        let tally = tally(
            [("1", "deleted", "Unregistered"), ("2", "deleted", "keyRevoked")], ["deleted": screen])
        #expect(tally.placeholders == count && tally.flaws.isEmpty == (count == 2))
    }

    @Test("a failure of another user, and one with another reason, are flaws")
    func failures() {
        let tally = tally([("1", "zoe", "Unregistered"), ("1", "deleted", "expired")], ["zoe": [], "deleted": []])
        #expect(tally.flaws == ["1 to zoe failed: Unregistered", "1 to deleted failed: expired"])
    }

    @Test("a push that is shown twice, a placeholder and a text for another phone are flaws")
    func surplus() {
        let tally = tally([("1", "zoe", nil)], ["zoe": ["1", "1"], "amara": ["1", Tally.placeholder]])
        #expect(
            tally.flaws == [
                "1 to zoe is shown 2 times", "amara sees 1 without a push",
                "amara sees Open the app to read it without a push",
            ])
        #expect(tally.shownTwice == 1 && tally.placeholders == 1)
    }
}
