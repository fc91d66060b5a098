import Foundation
import Testing

/// The options of `simulate` for the app of the phone.
@Suite("the app of simulate", .ownThreads) struct SimulateStateTests {
    private let story: SimulatedStory

    init() throws { story = try SimulatedStory() }

    @Test(
        "a push that isn't sealed is shown with --unsealed shown, and its texts by key are the app's; otherwise it isn't",
        arguments: [
            ("shown", "original", nil, "Hallo Zoë", 0), ("refused", "placeholder", "notSealed", "New message", 65),
        ]
            as [(String, String, String?, String, Int32)])
    func unsealed(_ choice: String, outcome: String, failure: String?, title: String, exit: Int32) throws {
        try story.place.write(Data(#"{"HI":"Hallo %@","COUNT":"%d"}"#.utf8), to: "t.json")
        func push(_ key: String) -> String {
            #"{"aps":{"alert":{"title-loc-key":"\#(key)","title-loc-args":["Zoë"]},"badge":2,"mutable-content":1}}"#
        }
        let options = ["--unsealed", choice, "--strings", "t.json"]
        let object = try story.objects([push("HI")], options, exit: exit)[0]
        #expect(object.text("outcome") == outcome && object.text("failure") == failure, "\(object)")
        #expect(object["restored"] as? Bool == false && object.object("after").text("title") == title, "\(object)")
        #expect(object["badge"] as? Int == (choice == "shown" ? 2 : nil))
        guard choice == "shown" else { return }
        #expect(object.text("verdict") == "shown although it isn't sealed")
        #expect(try story.run([push("HI")], options).text.contains("✓ shown although it isn't sealed"))
        // Without its text it isn't shown: no other text is there.
        let output = try story.run([push("COUNT")], options + ["--json"])
        let unshown = try output.object()
        #expect(unshown.text("outcome") == "placeholder" && output.exit == 65, "\(output)")
        #expect(unshown.text("verdict")?.contains("text of COUNT has the specifier %d") == true, "\(output)")
        #expect(!output.stderr.contains("diagnose"), "\(output)")
    }

    @Test(
        "a push that isn't sealed is shown without its picture, and a note says so if a member or a file is named",
        arguments: [["--attachment-member", "image"], ["--serve", "https://a.b/p=p"], []])
    func unsealedPicture(_ options: [String]) throws {
        try story.place.write(Data([1]), to: "p")
        let push = #"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://a.b/p"}"#
        let object = try story.objects([push], ["--unsealed", "shown"] + options)[0]
        let note = "shown without attachments: the extension fetches none for a push that isn't sealed"
        #expect(object.texts("notes") == (options.isEmpty ? nil : [note]), "\(object)")
    }

    @Test("each push shows the receipt that the phone posts, by push_id")
    func receipts() throws {
        let payload = #"{"aps":{"alert":"Hi"},"push_id":"m-17"}"#
        let push = try story.push(payload)
        let form = try story.objects([push, push], ["--receipts", "form"], exit: 65)
        let bodies = form.map { $0.texts("receipts") ?? [] }
        #expect(form.allSatisfy { $0["notes"] == nil }, "\(form)")
        #expect(bodies.map(\.count) == [1, 1] && bodies[0][0].contains("&push=m-17&outcome=opened&time="), "\(form)")
        #expect(bodies[1][0].contains("&outcome=replayed&"), "\(form)")
        let json = try story.objects([push], ["--receipts", "json"])[0].texts("receipts") ?? []
        let receipt = try JSONSerialization.jsonObject(with: Data(#require(json.first).utf8)) as? [String: Any]
        #expect(receipt?.text("push") == "m-17" && receipt?.text("outcome") == "opened", "\(json)")
        let text = try story.run([push], ["--receipts", "form"]).text.split(whereSeparator: \.isWhitespace).joined()
        #expect(text.contains("thephonepoststhereceiptid=") && text.contains("push=m-17&outcome=opened"), "\(text)")
        #expect(try story.objects([push])[0]["receipts"] == nil)
        let unsealed = #"{"aps":{"alert":"Hi","mutable-content":1}}"#
        #expect(try story.objects([unsealed], ["--receipts", "form", "--unsealed", "shown"])[0]["receipts"] == nil)
    }
}
