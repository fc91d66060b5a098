import Foundation
import Testing

/// What events in the input of `simulate` do.
@Suite("events of simulate", .ownThreads) struct SimulateEventTests {
    private let story: SimulatedStory

    init() throws { story = try SimulatedStory() }

    private static func event(_ name: String, _ members: String = "") -> String {
        SimulatedStory.event(name, members)
    }

    private static let categories = #"""
        [{"id":"CHAT","options":["customDismissAction"],"actions":[
            {"id":"REPLY","title":"Reply","textInput":{"buttonTitle":"Send"}},
            {"id":"SHOW","title":"Show","options":["foreground"]},
            {"id":"PAY","title":"Pay","options":["authenticationRequired"]}]},
         {"id":"AUDIO","contentExtension":{"hidesDefaultContent":true,"response":"doNotDismiss",
            "actions":[{"id":"PLAY","title":"Play"}]}},
         {"id":"CALL","actions":[{"id":"TAKE","title":"Take"}],"contentExtension":{"actions":[{"id":"PLAY","title":"Play"}]}}]
        """#

    /// Objects of lines after a push with a category.
    private func chat(
        _ events: [String], _ category: String = "CHAT", exit: Int32 = 0
    ) throws -> [[String: Any]] {
        try story.place.write(Data(Self.categories.utf8), to: "c.json")
        let push = try story.push(#"{"aps":{"alert":{"title":"Zoë"},"category":"\#(category)"}}"#)
        return Array(try story.objects([push] + events, ["--categories", "c.json"], exit: exit).dropFirst())
    }

    @Test("time passes, and scheduled notifications are shown when they are due; a repeated one again and again")
    func advance() throws {
        let objects = try story.objects([
            SimulatedStory.schedule("once", #""title":"Tea","body":"Ready","badge":2"#, #""timeInterval":"90s""#),
            SimulatedStory.schedule("hourly", #""title":"Walk""#, #""timeInterval":"1h","repeats":true"#),
            Self.event("pending"), Self.event("advance", #""by":"2h""#), Self.event("pending"),
        ])
        #expect(objects[0].text("next") == "2026-03-01T09:01:30Z" && objects[0].text("time") == "2026-03-01T09:00:00Z")
        #expect(objects[2].ids("pending") == ["once", "hourly"])
        #expect(objects[3].ids("presented") == ["once", "hourly", "hourly"] && objects[3]["badge"] as? Int == 2)
        #expect(objects[3].objects("presented")[0].texts("places") == ["banner", "list", "lockScreen", "badge"])
        #expect(objects[3].text("time") == "2026-03-01T11:00:00Z")
        #expect(objects[4].ids("pending") == ["hourly"])
        #expect(objects[4].objects("pending")[0].text("next") == "2026-03-01T12:00:00Z")
    }

    @Test("a request without a trigger is shown at once, with its thread and its level of interruption")
    func immediate() throws {
        let content = #""body":"Hi","thread":"t","interruptionLevel":"passive","sound":"default""#
        let shown = try story.objects([SimulatedStory.schedule("a", content)])[0].objects("presented")[0]
        #expect(shown.texts("places") == ["list", "lockScreen"] && shown.text("thread") == "t")
        #expect(shown.text("interruptionLevel") == "passive")
    }

    @Test(
        "a request that the framework refuses is an error of the app, and the status is 0",
        arguments: [
            (#""title":"a""#, #""timeInterval":"59s","repeats":true"#, "invalidTrigger"),
            (#""title":"a""#, #""calendar":{"hour":24}"#, "invalidTrigger"),
            (#""title":"a""#, #""calendar":{"hour":2,"timeZone":"Mars/Base"}"#, "invalidTrigger"),
            (#""category":"a""#, nil, "invalidContent"),
            (#""title":"a","attachments":["missing.png"]"#, nil, "invalidAttachment"),
        ] as [(String, String?, String)])
    func refusedRequest(_ content: String, _ trigger: String?, code: String) throws {
        let object = try story.objects([SimulatedStory.schedule("a", content, trigger)])[0]
        #expect(object.object("error").text("code") == code && object.text("next") == nil, "\(object)")
    }

    @Test("a file of a request is shown, and stays where it is") func attachment() throws {
        let gif = Data("GIF89a".utf8) + Data(count: 20)
        try story.place.write(gif, to: "logo.gif")
        let output = try story.run([
            SimulatedStory.schedule("a", #""title":"Welcome","attachments":["logo.gif"]"#),
            Self.event("expand", #""id":"a""#),
        ])
        #expect(output.isSuccess && output.text.contains("[gif, 26 bytes]"), "\(output)")
        #expect(output.text.contains("attachments: gif, 26 bytes"), "\(output)")
        #expect(try story.place.read("logo.gif") == gif)
    }

    @Test("a daily reminder keeps its local time when summer time begins") func summerTime() throws {
        let calendar = #""calendar":{"hour":7,"timeZone":"Europe/Zurich"},"repeats":true"#
        let objects = try story.objects([
            SimulatedStory.schedule("a", #""title":"Walk""#, calendar), Self.event("advance", #""by":"27d""#),
            Self.event("pending"), Self.event("advance", #""by":"1d""#), Self.event("pending"),
        ])
        #expect(objects[1].objects("presented").count == 27)
        #expect(objects[2].objects("pending")[0].text("next") == "2026-03-29T05:00:00Z")
        #expect(objects[4].objects("pending")[0].text("next") == "2026-03-30T05:00:00Z")
    }

    @Test("a region is shown when the phone enters or leaves it, and not without permission for the location")
    func region() throws {
        let region = #""region":{"id":"office","latitude":47.37,"longitude":8.54,"radius":200},"repeats":true"#
        let objects = try story.objects([
            SimulatedStory.schedule("a", #""title":"Office""#, region), Self.event("enterRegion", #""id":"office""#),
            Self.event("move", #""latitude":47.4,"longitude":8.6"#), Self.event("settings", #""location":false"#),
            Self.event("enterRegion", #""id":"office""#), Self.event("leaveRegion", #""id":"office""#),
        ])
        #expect(objects.map { $0.ids("presented") } == [[], ["a"], ["a"], [], [], []])
    }

    @Test("before the first unlock a push is a placeholder, and the app opens it when it comes to the foreground")
    func keptPush() throws {
        let objects = try story.objects(
            [
                try story.push(), Self.event("unlock"), Self.event("foreground", #""presents":["list"]"#),
                Self.event("delivered"),
            ], ["--locked"], exit: 65)
        #expect(objects[0].text("failure") == "keyLocked" && objects[1]["locked"] as? Bool == false)
        let opened = objects[2].objects("opened")[0]
        #expect(opened.text("id") == "push-1" && opened.text("replacedBy") == "push-1-opened")
        #expect(objects[2].text("app") == "foreground" && objects[2].texts("removed") == ["push-1"])
        #expect(objects[3].objects("delivered")[0].text("title") == "Results")
    }

    @Test("a restart locks the phone and its keys until it is unlocked") func restart() throws {
        let objects = try story.objects(
            [
                Self.event("unlock"), Self.event("restart"), try story.push(), Self.event("unlock"), Self.event("lock"),
                try story.push(),
            ], exit: 65)
        #expect(objects.map { $0["locked"] as? Bool } == [false, true, nil, false, true, nil])
        #expect(objects.map { $0["keysLocked"] as? Bool } == [nil, true, nil, false, nil, nil])
        #expect(objects[2].text("failure") == "keyLocked" && objects[5].text("outcome") == "restored")
    }

    @Test("airplane mode and the phone's clock change during the run") func network() throws {
        let push = try story.push()
        let objects = try story.objects(
            [
                push, Self.event("offline"), push, Self.event("online"),
                Self.event("clock", #""time":"2026-05-01T00:00:00Z""#),
                try story.push(),
            ], exit: 65)
        #expect(
            objects.map { $0.text("outcome") } == ["restored", nil, "stored", nil, "placeholder", nil, "placeholder"])
        #expect(objects[4].text("failure") == "replayed" && objects[6].text("failure") == "expired")
        #expect(objects[5].text("clock") == "2026-05-01T00:00:00Z" && objects[5].text("time") == Workplace.now)
    }

    @Test("the user is asked once, and the answer decides what the app may show") func requestAuthorization() throws {
        let ask = Self.event("requestAuthorization", #""options":["alert","badge"],"answer":"deny""#)
        let objects = try story.objects(
            [
                ask, Self.event("requestAuthorization"), try story.push(), SimulatedStory.schedule("a"),
                Self.event("settings", #""notifications":true"#), try story.push(),
            ], ["--authorization", "notDetermined"], exit: 65)
        #expect(objects.prefix(2).map { $0["asked"] as? Bool } == [true, false])
        #expect(objects.prefix(2).map { $0["granted"] as? Bool } == [false, false])
        #expect(objects[2].text("outcome") == "nothing" && objects[3].object("error").text("code") == "notAllowed")
        #expect(objects[4].object("settings").text("authorization") == "authorized")
        #expect(objects[5].text("outcome") == "restored")
    }

    @Test(
        "a setting that the user changes decides where the next push is shown",
        arguments: [
            (#""lockScreen":false"#, ["banner", "list", "sound"]),
            (#""banners":false"#, ["list", "lockScreen", "sound"]),
            (#""list":false"#, ["banner", "lockScreen", "sound"]),
            (#""sounds":false"#, ["banner", "list", "lockScreen"]),
            (
                #""badges":false,"timeSensitive":false,"criticalAlerts":true"#,
                ["banner", "list", "lockScreen", "sound"]
            ),
        ])
    func settings(_ change: String, _ places: [String]) throws {
        let push = try story.push(#"{"aps":{"alert":"Hi","sound":"default"}}"#)
        #expect(try story.objects([Self.event("settings", change), push])[1].texts("places") == places)
    }

    @Test("previews that are shown only when the phone is unlocked are hidden on the lock screen") func previews()
        throws
    {
        let objects = try story.objects([
            Self.event("settings", #""previews":"whenUnlocked""#), try story.push(), Self.event("unlock"),
            Self.event("lockScreen"),
        ])
        #expect(objects[1].object("after")["hidden"] as? Bool == true)
        let shown = objects[3].objects("lockScreen")[0].objects("notifications")[0]
        #expect(shown.text("title") == "Results" && shown["hidden"] as? Bool == false)
    }

    @Test("on a muted phone only a critical notification has a sound") func mute() throws {
        func lines(_ name: String) -> [String] {
            [Self.event(name), Self.event("settings", #""criticalAlerts":true"#)]
                + ["critical", "active"].map {
                    SimulatedStory.schedule($0, #""title":"a","sound":"default","interruptionLevel":"\#($0)""#)
                }
        }
        func sounds(_ objects: [[String: Any]]) -> [Bool] {
            objects.suffix(2).map { $0.objects("presented")[0].texts("places")?.contains("sound") == true }
        }
        #expect(sounds(try story.objects(lines("mute"))) == [true, false])
        #expect(sounds(try story.objects(lines("unmute"))) == [true, true])
    }

    @Test("a tap opens the app with the restored push, and the notification leaves the list") func tap() throws {
        let objects = try story.objects([
            try story.push(), Self.event("unlock"), Self.event("tap", #""id":"push-1""#), Self.event("delivered"),
        ])
        let received = objects[2].objects("received")[0]
        #expect(received.text("action") == "open" && received.text("notification") == "restored")
        #expect(objects[2].text("app") == "foreground" && objects[2].texts("removed") == ["push-1"])
        #expect(objects[3].objects("delivered").isEmpty)
    }

    @Test("a tap on a placeholder opens its message in the app, and the other placeholders too") func tapOnPlaceholder()
        throws
    {
        let lines = [
            try story.push(), try story.push(), Self.event("unlock"), Self.event("tap", #""id":"push-1""#),
            Self.event("delivered"),
        ]
        let objects = try story.objects(lines, ["--locked"], exit: 65)
        #expect(objects[3].objects("received")[0].text("notification") == "restored")
        #expect(objects[3].ids("opened") == ["push-1", "push-2"])
        #expect(objects[3].objects("opened").map { $0.text("replacedBy") } == [nil, "push-2-opened"])
        #expect(objects[4].ids("delivered") == ["push-2-opened"])
        let text = try story.run(lines, ["--locked"]).text
        #expect(text.contains("push-1: the app opens the message of this placeholder\n"), "\(text)")
        #expect(text.contains("keys can be read again"), "\(text)")
    }

    @Test("the phone says that keys can't be read after a restart, also if it was locked already")
    func restartOfLocked()
        throws
    {
        let output = try story.run([Self.event("restart")])
        #expect(output.isSuccess && output.text.contains("keys can't be read until the phone is unlocked"), "\(output)")
    }

    @Test("what a removal takes out of the list is named, also if the same request is scheduled again")
    func removedAgain()
        throws
    {
        let lines = [
            SimulatedStory.schedule("tea", #""title":"Tea""#, #""timeInterval":"10m","repeats":true"#),
            Self.event("advance", #""by":"11m""#),
        ]
        for (name, members) in [
            ("removeDelivered", #""ids":["tea"]"#), ("removeAllDelivered", ""), ("dismiss", #""id":"tea""#),
            ("removePending", #""ids":["tea"]"#),
        ] {
            let objects = try story.objects(lines + [Self.event(name, members)])
            #expect(objects[2].texts("removed") == ["tea"], "\(name)")
        }
    }

    @Test("a notification whose number the app or the user doesn't want sets no badge, also if it is the same number")
    func sameBadge() throws {
        let push = try story.push(#"{"aps":{"alert":"Hi","badge":3}}"#)
        let unwanted = try story.objects([
            Self.event("setBadgeCount", #""count":3"#), Self.event("settings", #""badges":false"#), push,
        ])[2]
        #expect(unwanted["badge"] == nil && unwanted.texts("places")?.contains("badge") == false)
        let presented = try story.objects([
            push, Self.event("unlock"), Self.event("foreground", #""presents":["list"]"#),
            try story.push(#"{"aps":{"alert":"Ho","badge":3}}"#),
        ])
        #expect(presented[0]["badge"] as? Int == 3 && presented[3]["badge"] == nil)
    }

    @Test("a region isn't shown while the user doesn't allow the location, and the app's schedule says so")
    func noLocation()
        throws
    {
        let region = #""region":{"id":"office","latitude":47.37,"longitude":8.54,"radius":200}"#
        let lines = [
            Self.event("settings", #""location":false"#), SimulatedStory.schedule("a", #""title":"x""#, region),
        ]
        #expect(try story.objects(lines)[0].object("settings")["location"] as? Bool == false)
        let text = try story.run(lines).text
        #expect(
            text.contains("location not allowed") && text.contains("it isn't shown while the user doesn't allow"),
            "\(text)")
    }

    @Test("an action that a content extension handles says that the notification stays, and only an open one is closed")
    func handledAction() throws {
        try story.place.write(Data(Self.categories.utf8), to: "c.json")
        let id = #""id":"a""#
        let output = try story.run(
            [
                SimulatedStory.schedule("a", #""title":"x","category":"AUDIO""#), Self.event("collapse", id),
                Self.event("expand", id), Self.event("respond", id + #","action":"PLAY""#), Self.event("collapse", id),
            ], ["--categories", "c.json"])
        #expect(output.text.contains("line 2: collapse, id a\n    nothing changes\n"), "\(output)")
        #expect(output.text.contains("the content extension handles PLAY, and a stays\n"), "\(output)")
        #expect(output.text.contains("the content extension doesn't show a any more\n"), "\(output)")
    }

    @Test("while a content extension shows other actions, the actions of the category are refused with the way back")
    func actionOfCategory() throws {
        try story.place.write(Data(Self.categories.utf8), to: "c.json")
        let output = try story.run(
            [
                SimulatedStory.schedule("a", #""title":"x","category":"CALL""#), Self.event("expand", #""id":"a""#),
                Self.event("respond", #""id":"a","action":"TAKE""#),
            ], ["--categories", "c.json"])
        #expect(output.stderr.contains("until collapse closes it, the list of its actions has PLAY"), "\(output)")
    }

    @Test("options that the user wasn't asked for are named") func optionsNotAllowed() throws {
        let ask = Self.event("requestAuthorization", #""options":["alert","providesAppSettings"]"#)
        let object = try story.objects([ask])[0]
        #expect(object["granted"] as? Bool == true && object.texts("notAllowed") == ["providesAppSettings"])
        let first = try story.objects([ask], ["--authorization", "notDetermined"])[0]
        #expect(first.texts("notAllowed") == nil)
    }

    @Test("the heading of an event has the ids that it names") func idsInHeading() throws {
        let lines =
            ["a", "b"].map { SimulatedStory.schedule($0) } + [Self.event("removeDelivered", #""ids":["a","b"]"#)]
        #expect(try story.run(lines).text.contains("line 3: removeDelivered, ids a b\n"))
    }

    @Test("an action reaches the app in the background with its text, also if it isn't running") func respond() throws {
        let objects = try chat([
            Self.event("terminate"), Self.event("respond", #""id":"push-1","action":"REPLY","text":"Later""#),
        ])
        #expect(objects.map { $0.text("app") } == ["notRunning", "background"])
        let received = objects[1].objects("received")[0]
        #expect(
            received.text("action") == "REPLY" && received.text("text") == "Later" && received.text("id") == "push-1")
    }

    @Test("an action with foreground brings the app to the front") func foregroundAction() throws {
        let objects = try chat([
            Self.event("unlock"), Self.event("respond", #""id":"push-1","action":"SHOW""#), Self.event("background"),
        ])
        #expect(objects.map { $0.text("app") } == [nil, "foreground", "background"])
    }

    @Test("a dismissal reaches the app if the category asks for it") func dismiss() throws {
        let dismissal = Self.event("dismiss", #""id":"push-1""#)
        #expect(try chat([dismissal])[0].objects("received")[0].text("action") == "dismiss")
        let other = try story.objects([try story.push(), dismissal])[1]
        #expect(other.objects("received").isEmpty && other.texts("removed") == ["push-1"])
    }

    @Test("a content extension changes the actions while it shows, and keeps the notification") func expand() throws {
        let play = Self.event("respond", #""id":"push-1","action":"PLAY""#)
        let objects = try chat([Self.event("expand", #""id":"push-1""#), play, Self.event("delivered")], "AUDIO")
        #expect(objects[0].ids("actions") == ["PLAY"] && objects[0]["contentExtension"] as? Bool == true)
        #expect(objects[0]["defaultContent"] as? Bool == false && objects[1].objects("received").isEmpty)
        #expect(objects[2].ids("delivered") == ["push-1"])
        let own = try chat([Self.event("expand", #""id":"push-1""#)])[0]
        #expect(own.ids("actions") == ["REPLY", "SHOW", "PAY"] && own["contentExtension"] as? Bool == false)
        #expect(own["defaultContent"] as? Bool == true)
    }

    @Test("after a content extension is closed, the actions are those of the category again") func collapse() throws {
        let id = #""id":"push-1""#
        let objects = try chat(
            [Self.event("expand", id), Self.event("collapse", id), Self.event("expand", id)], "CALL")
        #expect(objects.map { $0.ids("actions") } == [["PLAY"], [], ["PLAY"]])
        let play = #""id":"push-1","action":"PLAY""#
        let output = try story.run(
            [
                try story.push(#"{"aps":{"alert":"x","category":"CALL"}}"#), Self.event("expand", id),
                Self.event("collapse", id), Self.event("respond", play),
            ], ["--categories", "c.json"])
        #expect(
            output.exit == 64
                && output.stderr.contains(
                    "PLAY: the notification shows no such action; until expand opens it, the list of its actions has TAKE"
                ),
            "\(output)")
    }

    @Test("an event without effect says so, and one that only sets something says what") func unchanged() throws {
        let output = try story.run(
            ["lock", "mute", "unmute", "background", "terminate", "online"].map { Self.event($0) }
                + [Self.event("move", #""latitude":1,"longitude":2"#)])
        let facts = output.text.components(separatedBy: "\n").filter { $0.hasPrefix("    ") }
        #expect(
            facts.map { $0.trimmingCharacters(in: .whitespaces) } == [
                "nothing changes", "only critical notifications have a sound", "notifications have their sounds",
                "nothing changes", "the app isn't running", "nothing changes", "the phone is at 1.0, 2.0",
            ], "\(output)")
    }

    @Test("the app's own settings open from a notification if the user has allowed the button") func openSettings()
        throws
    {
        let ask = Self.event("requestAuthorization", #""options":["alert","providesAppSettings"]"#)
        let lines = [ask, Self.event("unlock"), SimulatedStory.schedule("a")]
        let open = [Self.event("openSettings", #""id":"a""#), Self.event("openSettings")]
        let objects = try story.objects(lines + open, ["--authorization", "notDetermined"])
        #expect(objects.suffix(2).map { $0.objects("received")[0].text("id") } == ["a", nil])
        #expect(objects[3].text("app") == "foreground")
    }

    @Test("notifications are listed and removed in all four ways, and unknown names are ignored") func remove() throws {
        let schedules = ["a", "b", "c"].flatMap { id in
            [
                SimulatedStory.schedule(id, #""title":"t""#, #""timeInterval":"1h""#),
                SimulatedStory.schedule("shown-" + id),
            ]
        }
        let objects = Array(
            try story.objects(
                schedules + [
                    Self.event("removePending", #""ids":["b","unknown"]"#), Self.event("removeAllPending"),
                    Self.event("removeDelivered", #""ids":["shown-a","unknown"]"#), Self.event("removeAllDelivered"),
                    Self.event("pending"), Self.event("delivered"), Self.event("removeAllPending"),
                ]
            ).dropFirst(6))
        #expect(
            objects.prefix(4).map { $0.texts("removed") } == [["b"], ["a", "c"], ["shown-a"], ["shown-b", "shown-c"]])
        #expect(objects[4].objects("pending").isEmpty && objects[5].objects("delivered").isEmpty)
        #expect(objects[6].texts("removed") == nil)
    }

    @Test("the app sets its badge, unless the user doesn't allow badges or the number is negative") func badge() throws
    {
        let objects = try story.objects([
            Self.event("setBadgeCount", #""count":5"#), Self.event("setBadgeCount", #""count":0"#),
            Self.event("setBadgeCount", #""count":-1"#), Self.event("settings", #""badges":false"#),
            Self.event("setBadgeCount", #""count":1"#),
        ])
        #expect(objects.map { $0["badge"] as? Int } == [5, 0, nil, nil, nil])
        #expect(objects.map { $0.object("error").text("code") } == [nil, nil, "invalidContent", nil, "notAllowed"])
    }

    @Test("the lock screen groups threads, the latest first") func lockScreen() throws {
        let contents = [("a", "x"), ("b", "y"), ("c", "x")].map { id, thread in
            SimulatedStory.schedule(id, #""title":"\#(id)","thread":"\#(thread)""#)
        }
        let groups = try story.objects(contents + [Self.event("lockScreen")])[3].objects("lockScreen")
        #expect(
            groups.map { $0.text("thread") } == ["x", "y"]
                && groups.map { $0.ids("notifications") } == [["c", "a"], ["b"]])
    }

    @Test("a deleted app gets no push, and only the phone's own events can happen") func deleteApp() throws {
        let push = try story.push()
        let objects = try story.objects(
            [
                SimulatedStory.schedule("a"), Self.event("deleteApp"), push, Self.event("advance", #""by":"1h""#),
                Self.event("lockScreen"),
            ],
            exit: 65)
        #expect(objects[1].texts("removed") == ["a"] && objects[2].text("refused") == "410 Unregistered")
        #expect(objects[4].objects("lockScreen").isEmpty)
        let output = try story.run([Self.event("deleteApp"), Self.event("pending")])
        #expect(output.exit == 64 && output.stderr.contains("line 2: pending: the app was deleted"), "\(output)")
    }

    @Test("events alone are an input, and a page has the pushes and the lock screen after the events") func page()
        throws
    {
        let output = try story.run([try story.push(), SimulatedStory.schedule("a")], ["--picture", "page.html"])
        #expect(output.isSuccess, "\(output)")
        let page = String(decoding: try story.place.read("page.html"), as: UTF8.self)
        #expect(page.contains("Results") && page.contains("Tea"))
        #expect(try story.run([SimulatedStory.schedule("a")]).isSuccess)
    }
}
