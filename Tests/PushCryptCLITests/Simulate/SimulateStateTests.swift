import Foundation
import Testing

/// The options of `simulate` for the state of phone and app at the start.
@Suite("the phone of simulate at the start", .ownThreads) struct SimulateStateTests {
    private let story: SimulatedStory

    init() throws { story = try SimulatedStory() }

    private static let allPlaces = ["banner", "list", "lockScreen"]

    @Test("off line, APNs keeps the last push or all, and the phone receives them when it is on line again")
    func offline() throws {
        let pushes = [try story.push(), try story.push(), SimulatedStory.event("online")]
        let last = try story.objects(pushes, ["--offline", "last"], exit: 65)
        #expect(last.map { $0.text("outcome") } == ["stored", "stored", nil, "restored"])
        #expect(last[1]["replaced"] as? [Int] == [1] && last[3]["number"] as? Int == 2)
        let all = try story.objects(pushes, ["--offline", "all"])
        #expect(all.map { $0["number"] as? Int } == [1, 2, nil, 1, 2])
        #expect(all.suffix(2).allSatisfy { $0.text("outcome") == "restored" })
    }

    @Test(
        "off line without the event online, the pushes that the phone hasn't received are named, and the status is 65")
    func neverOnline() throws {
        let output = try story.run([try story.push()], ["--offline", "last"])
        #expect(output.exit == 65 && output.text.contains("✗ kept by APNs: the phone is off line"), "\(output)")
        #expect(output.stderr.contains("APNs still keeps push 1: the phone receives what it keeps with {"))
        let none = try story.run([SimulatedStory.event("online")], ["--offline", "last"])
        #expect(none.stderr == "pushcrypt: --offline has no effect: APNs has kept no push\n")
    }

    @Test("off line, a push with the expiration 0 is dropped, and one that expires meanwhile isn't received")
    func expired() throws {
        let push = try story.push()
        let lines = [
            #"{"payload":\#(push),"headers":{"apns-expiration":0}}"#,
            #"{"payload":\#(push),"headers":{"apns-expiration":\#(Workplace.later(60))}}"#,
            SimulatedStory.event("advance", #""by":"2m""#), SimulatedStory.event("online"),
        ]
        let objects = try story.objects(lines, ["--offline", "all"], exit: 65)
        #expect(objects.map { $0.text("outcome") } == ["dropped", "stored", nil, nil])
        #expect(objects[3]["expired"] as? [Int] == [2])
    }

    @Test(
        "a clock that is wrong only on the phone makes a push expired or not yet valid, and the verdict has the times",
        arguments: [("2026-05-01T09:00:00Z", "expired"), ("2026-02-01T09:00:00Z", "notYetValid")])
    func phoneClock(_ time: String, failure: String) throws {
        let push = try story.push(#"{"aps":{"alert":"Hi"}}"#, "--expires", "2d")
        let object = try story.objects([push], ["--phone-clock", time], exit: 65)[0]
        #expect(object.text("failure") == failure)
        let times = "It was sealed at \(Workplace.now), expires at 2026-03-03T09:00:00Z, and the time here is \(time)."
        #expect(object.text("verdict") == "\(failure): the placeholder is shown. \(times)")
    }

    @Test(
        "a push that needs the wrong clock uses it, and one that can be opened at either time doesn't",
        arguments: [("2026-03-01T09:05:00Z", false), ("2026-03-01T10:00:00Z", true)])
    func usedClock(_ phoneClock: String, isUsed: Bool) throws {
        let push = try story.push(#"{"aps":{"alert":"Hi"}}"#, "--expires", "30m")
        let output = try story.run([push], ["--phone-clock", phoneClock])
        let note = "--phone-clock has no effect: each push can be opened at either time"
        #expect(output.stderr.contains(note) != isUsed && output.exit == (isUsed ? 65 : 0), "\(output)")
    }

    @Test("the right clock has no effect, and a wrong form of a time is a usage error") func rightClock() throws {
        let output = try story.run([try story.push()], ["--phone-clock", Workplace.now])
        #expect(output.exit == 0 && output.stderr.contains("--phone-clock has no effect"), "\(output)")
        expectUsageError(try story.run([try story.push()], ["--phone-clock", "noon"]))
    }

    @Test(
        "what the user allows decides where a push is shown",
        arguments: [
            ("authorized", allPlaces, 0), ("provisional", ["list"], 0), ("denied", nil, 65), ("notDetermined", nil, 65),
        ] as [(String, [String]?, Int32)])
    func authorization(_ state: String, _ places: [String]?, exit: Int32) throws {
        let object = try story.objects([try story.push()], ["--authorization", state], exit: exit)[0]
        #expect(object.texts("places") == places && object.text("outcome") == (exit == 0 ? "restored" : "nothing"))
        if exit == 65 { #expect(object.text("verdict") == "nothing: the user doesn't allow notifications") }
        let notes = object.texts("notes") ?? []
        #expect(notes.contains("shown in the list, not on the lock screen") == (state == "provisional"))
    }

    @Test(
        "an app in the foreground decides how a push is presented",
        arguments: [
            ("banner,sound", ["banner", "sound"], 0), ("list", ["list", "lockScreen"], 0), ("none", nil, 65),
        ] as [(String, [String]?, Int32)])
    func foreground(_ presents: String, _ places: [String]?, exit: Int32) throws {
        let push = try story.push(#"{"aps":{"alert":"Hi","sound":"default"}}"#)
        let object = try story.objects([push], ["--foreground", presents], exit: exit)[0]
        #expect((object.texts("places") ?? []) == places ?? [], "\(object)")
        #expect(object.text("outcome") == (places == nil ? "nothing" : "restored"))
    }

    @Test("badge and sound that an app in the foreground doesn't want aren't printed") func withoutBadge() throws {
        let push = try story.push(#"{"aps":{"alert":"Hi","sound":"default","badge":3}}"#)
        let quiet = try story.objects([push], ["--foreground", "banner"])[0]
        #expect(quiet["badge"] == nil && quiet.text("sound") == nil)
        #expect(quiet.texts("notes")?.contains("shown as a banner, not on the lock screen") == true, "\(quiet)")
        let loud = try story.objects([push], ["--foreground", "banner,sound,badge"])[0]
        #expect(loud["badge"] as? Int == 3 && loud.text("sound") == "default")
        let text = try story.run([push], ["--foreground", "banner"]).text
        #expect(!text.contains("badge 3") && !text.contains("sound default"), "\(text)")
    }

    @Test(
        "a presentation with another name, and a locked phone with an app on its screen, are usage errors",
        arguments: [["--foreground", "banner,alert"], ["--foreground", ""], ["--foreground", "list", "--locked"]])
    func impossibleForeground(_ options: [String]) throws {
        expectUsageError(try story.run([try story.push()], options))
    }

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
        let sealed = try story.run([try story.push()], ["--unsealed", choice])
        #expect(sealed.exit == 0 && sealed.stderr.contains("--unsealed has no effect"), "\(sealed)")
        // Without its text it isn't shown: no other text is there.
        let output = try story.run([push("COUNT")], options + ["--json"])
        let unshown = try output.object()
        #expect(unshown.text("outcome") == "placeholder" && output.exit == 65, "\(output)")
        #expect(unshown.text("verdict")?.contains("text of COUNT has the specifier %d") == true, "\(output)")
        #expect(!output.stderr.contains("no effect") && !output.stderr.contains("diagnose"), "\(output)")
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

    @Test("each push shows the receipt that the phone posts, by push_id, and posting doesn't delay the notification")
    func receipts() throws {
        let payload = #"{"aps":{"alert":"Hi"},"push_id":"m-17"}"#
        let push = try story.push(payload)
        let form = try story.objects([push, push], ["--receipts", "form", "--slow-network", "3s"], exit: 65)
        let bodies = form.map { $0.texts("receipts") ?? [] }
        #expect(form.allSatisfy { $0["notes"] == nil }, "\(form)")
        #expect(bodies.map(\.count) == [1, 1] && bodies[0][0].contains("&push=m-17&outcome=opened&time="), "\(form)")
        #expect(
            bodies[1][0].contains("&outcome=replayed&") && form.map { $0["seconds"] as? Double } == [0, 0], "\(form)")
        let json = try story.objects([push], ["--receipts", "json"])[0].texts("receipts") ?? []
        let receipt = try JSONSerialization.jsonObject(with: Data(#require(json.first).utf8)) as? [String: Any]
        #expect(receipt?.text("push") == "m-17" && receipt?.text("outcome") == "opened", "\(json)")
        let text = try story.run([push], ["--receipts", "form"]).text.split(whereSeparator: \.isWhitespace).joined()
        #expect(text.contains("thephonepoststhereceiptid=") && text.contains("push=m-17&outcome=opened"), "\(text)")
        #expect(try story.objects([push])[0]["receipts"] == nil)
        let unsealed = #"{"aps":{"alert":"Hi","mutable-content":1}}"#
        let output = try story.run([unsealed], ["--receipts", "form", "--unsealed", "shown"])
        #expect(output.exit == 0 && output.stderr.contains("--receipts has no effect"), "\(output)")
    }

    @Test(
        "without a receipt the note says that none was made, and that the system ended the extension if it did",
        arguments: [
            (["--kill-at", "0s"], "the extension made no receipt, and the system ended it during a push"),
            (["--authorization", "denied"], "the extension made no receipt"), (["--unsealed", "refused"], nil),
        ] as [([String], String?)])
    func noReceipt(_ options: [String], reason: String?) throws {
        let sealed = try story.push()
        let push = options[0] == "--unsealed" ? #"{"aps":{"alert":"Hi","mutable-content":1}}"# : sealed
        let notes = try story.run([push], ["--receipts", "json"] + options).stderr.split(separator: "\n")
            .map(String.init).filter { $0.contains("--receipts") }
        #expect(notes == (reason.map { ["pushcrypt: --receipts has no effect: \($0)"] } ?? []), "\(notes)")
    }

    @Test("a receipt that the extension can't post waits, and the app posts it when it comes to the foreground")
    func waitingReceipt() throws {
        let lines = [try story.push(), SimulatedStory.event("unlock"), SimulatedStory.event("foreground")]
        let options = ["--receipts", "json", "--slow-network", "6s", "--kill-at", "5s"]
        let objects = try story.objects(lines, options)
        let note = "its receipt waits in the app's store: the app posts it when it is active"
        #expect(objects[0]["receipts"] == nil && objects[0].texts("notes") == [note], "\(objects)")
        #expect(objects[1]["receipts"] == nil && objects[2].texts("receipts")?.count == 1, "\(objects)")
        #expect(objects[2].texts("receipts")?[0].contains(#""outcome":"opened""#) == true, "\(objects)")
    }

    @Test("a category's text stands for a hidden body, with the number of messages")
    func categories() throws {
        try story.place.write(
            Data(
                #"[{"id":"CHAT","hiddenPreviewsBodyPlaceholder":"%u messages","options":["hiddenPreviewsShowTitle"]}]"#
                    .utf8),
            to: "c.json")
        let push = try story.push(#"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"category":"CHAT"}}"#)
        let options = ["--categories", "c.json", "--previews", "hidden"]
        let after = try story.objects([push], options)[0].object("after")
        #expect(after.text("title") == "Zoë" && after.text("body") == "1 messages" && after["hidden"] as? Bool == true)
        let unused = try story.run([try story.push()], ["--categories", "c.json"])
        #expect(unused.stderr.contains("--categories has no effect: no notification with one"), "\(unused)")
    }

    @Test("the categories have an effect also if the app opens the notification later") func categoriesOfOpened() throws
    {
        try story.place.write(Data(#"[{"id":"CHAT","actions":[{"id":"A","title":"A"}]}]"#.utf8), to: "c.json")
        let push = try story.push(#"{"aps":{"alert":{"title":"Zoë","body":"Hi"},"category":"CHAT"}}"#)
        let output = try story.run(
            [push, SimulatedStory.event("unlock"), SimulatedStory.event("foreground")],
            ["--locked", "--categories", "c.json"])
        #expect(!output.stderr.contains("no effect"), "\(output)")
    }

    @Test("a category that isn't in the file is named, also if another one is") func foreignCategory() throws {
        try story.place.write(Data(#"[{"id":"CHAT"}]"#.utf8), to: "c.json")
        let lines = ["CHAT", "CHATT"].map { SimulatedStory.schedule($0, #""title":"x","category":"\#($0)""#) }
        let output = try story.run(lines, ["--categories", "c.json"])
        #expect(
            output.stderr == "pushcrypt: --categories doesn't have the category CHATT of a notification\n", "\(output)")
    }

    @Test("the page shows the phone's own clock in the user's time zone") func pageClock() throws {
        let options = ["--phone-clock", "2026-03-01T09:05:00Z", "--time-zone", "Europe/Zurich", "--picture", "p.html"]
        _ = try story.run([try story.push()], options)
        let page = String(decoding: try story.place.read("p.html"), as: UTF8.self)
        #expect(page.contains(">10:05<") && page.contains("10:05 Europe/Zurich"))
    }

    @Test(
        "a file of categories with a mistake is refused with the place of the mistake",
        arguments: [
            ("{}", "it must be an array of categories, and is an object"),
            ("[", "the text ends before its JSON value does"),
            (#"[{"id":"A","action":[]}]"#, "category 1 has no member action: do you mean actions?"),
            (
                #"[{"id":"A","actions":[{"id":"B","title":"x"},{"id":"B","title":"y"}]}]"#,
                "category 1: two actions have the id B"
            ),
            (#"[{"id":"A"},{"id":"A"}]"#, "two categories have the id A"),
            (#"[{"actions":[]}]"#, "category 1 needs id"),
            (#"[{"id":"A","actions":[{"id":"B"}]}]"#, "category 1, actions 1 needs title"),
            (#"[{"id":"A","options":["destructive"]}]"#, "options must be an array of customDismissAction"),
            (#"[{"id":"A","contentExtension":{"response":"stay"}}]"#, "response must be one of doNotDismiss"),
        ])
    func wrongCategories(_ file: String, reason: String) throws {
        try story.place.write(Data(file.utf8), to: "c.json")
        expectRefusal(try story.run([try story.push()], ["--categories", "c.json"]), 65, saying: reason)
    }

    @Test("with the entitlement for filtering a quiet push is hidden, and without it shown passively")
    func filtering() throws {
        let push = try story.push(#"{"aps":{"alert":"Hi"}}"#, "--quiet")
        let hidden = try story.objects([push], ["--filtering"])[0]
        #expect(hidden.text("outcome") == "nothing" && hidden["restored"] as? Bool == true, "\(hidden)")
        let shown = try story.objects([push])[0]
        #expect(shown.text("outcome") == "restored" && shown.texts("places") == ["list", "lockScreen"])
        let unused = try story.run([try story.push()], ["--filtering"])
        #expect(unused.exit == 0 && unused.stderr.contains("--filtering has no effect"), "\(unused)")
    }

    @Test(
        "a picture that needs more memory than the extension may use ends it, and the original is shown",
        arguments: [("64KiB", "restored"), ("65535", "original"), ("1MiB", "restored")])
    func memory(_ limit: String, outcome: String) throws {
        var picture = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        picture.append(Data(count: 100_000))
        try story.place.write(picture, to: "p.png")
        let push = try story.push(#"{"aps":{"alert":"Hi"},"image_url":"https://a.b/p.png"}"#)
        let options = [
            "--attachment-member", "image_url", "--serve", "https://a.b/p.png=p.png", "--memory-limit", limit,
        ]
        let output = try story.run([push], options + ["--json"])
        #expect(try output.object().text("outcome") == outcome, "\(output)")
        #expect(output.text.contains("used more memory than --memory-limit allows") == (outcome == "original"))
        #expect(
            output.stderr.contains("--memory-limit has no effect: the extension held 65,536") == (outcome == "restored")
        )
    }

    @Test("a size that is none is a usage error", arguments: ["0", "24MB", "-1", "2048MiB", "MiB", "+5"])
    func wrongSize(_ size: String) throws {
        expectUsageError(try story.run([try story.push()], ["--memory-limit=\(size)"]))
    }

    @Test("the user's time zone decides when a calendar trigger fires; an unknown one is refused")
    func timeZone() throws {
        let line = SimulatedStory.schedule("a", #""title":"Tea""#, #""calendar":{"hour":7}"#)
        #expect(try story.objects([line])[0].text("next") == "2026-03-02T07:00:00Z")
        #expect(try story.objects([line], ["--time-zone", "Europe/Zurich"])[0].text("next") == "2026-03-02T06:00:00Z")
        expectRefusal(
            try story.run([line], ["--time-zone", "Europe/Zuerich"]), 64,
            saying: "--time-zone: there is no time zone Europe/Zuerich; a name is such as")
        let unused = try story.run([try story.push()], ["--time-zone", "Europe/Zurich"])
        #expect(unused.stderr.contains("--time-zone has no effect"), "\(unused)")
    }
}
