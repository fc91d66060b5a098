import Foundation
import Testing

/// Events that `simulate` refuses: the message has the line, what is wrong, and the name that was probably meant.
@Suite("mistakes in events of simulate", .ownThreads) struct SimulateEventMistakeTests {
    private let story: SimulatedStory

    init() throws { story = try SimulatedStory() }

    @Test(
        "an event that isn't in the grammar is a usage error with its line",
        arguments: [
            (#"{"event":"advence","by":"2h"}"#, "there is no event advence: do you mean advance?"),
            (#"{"event":"explode"}"#, "there is no event explode: the events are advance, clock, lock"),
            (#"{"event":1}"#, "event must be a text"), (#"{"event":"Tap","id":"a"}"#, "do you mean tap?"),
            (#"{"event":"advance"}"#, "advance needs by, which is a duration"),
            (#"{"event":"advance","by":"soon"}"#, "advance: by must be a duration"),
            (#"{"event":"advance","by":"367d"}"#, "advance: by is at most 366d"),
            (#"{"event":"advance","by":7200}"#, "advance: by must be a duration"),
            (#"{"event":"advance","by":"2h","to":"x"}"#, "advance has no member to"),
            (#"{"event":"lock","now":true}"#, "lock has no member now"),
            (#"{"event":"tap"}"#, "tap needs id, which is a non-empty text"),
            (#"{"event":"tap","ID":"a"}"#, "needs id, which is a non-empty text; there is ID"),
            (#"{"event":"tap","id":7}"#, "tap: id must be a non-empty text"),
            (#"{"event":"tap","id":""}"#, "tap: id must be a non-empty text"),
            (#"{"event":"clock","time":"9:00"}"#, "clock: time must be a time"),
            (
                #"{"event":"foreground","presents":["alert"]}"#,
                "presents must be an array of banner, list, sound, badge, and has alert"
            ),
            (#"{"event":"settings"}"#, "settings changes nothing"),
            (#"{"event":"settings","sound":false}"#, "settings has no member sound: do you mean sounds?"),
            (#"{"event":"settings","previews":"hidden"}"#, "previews must be one of always, whenUnlocked, never"),
            (#"{"event":"settings","banners":1}"#, "settings: banners must be true or false"),
            (#"{"event":"requestAuthorization","answer":"yes"}"#, "answer must be one of allow, deny"),
            (#"{"event":"requestAuthorization","options":["alerts"]}"#, "options must be an array of alert, sound"),
            (#"{"event":"schedule","id":"a"}"#, "schedule needs content, which is an object"),
            (#"{"event":"schedule","id":"a","content":[]}"#, "schedule, content must be an object, and is an array"),
            (
                #"{"event":"schedule","id":"a","content":{"titel":"x"}}"#,
                "content has no member titel: do you mean title?"
            ),
            (#"{"event":"schedule","id":"a","content":{"badge":1.5}}"#, "badge must be a whole number"),
            (
                #"{"event":"schedule","id":"a","content":{"interruptionLevel":"loud"}}"#,
                "must be one of passive, active"
            ),
            (
                #"{"event":"schedule","id":"a","content":{"title":"x"},"trigger":{}}"#,
                "needs one of timeInterval, calendar and region"
            ),
            (
                #"{"event":"schedule","id":"a","content":{"title":"x"},"trigger":{"timeInterval":"1h","calendar":{}}}"#,
                "has more than one of timeInterval, calendar and region"
            ),
            (
                #"{"event":"schedule","id":"a","content":{"title":"x"},"trigger":{"region":{"id":"r","latitude":1}}}"#,
                "trigger, region needs longitude, which is a number"
            ),
            (#"{"event":"removePending","ids":"a"}"#, "ids must be an array of texts"),
            (#"{"event":"removePending","ids":[1]}"#, "ids must be an array of texts"),
            (
                #"{"event":"setBadgeCount","badge":1}"#,
                "setBadgeCount needs count, which is a whole number; there is badge"
            ),
            (#"{"event":"foreground","presents":["baner"]}"#, "and has baner: do you mean banner?"),
            (#"{"event":"move","latitude":147,"longitude":8}"#, "latitude must be a number from -90 to 90"),
            (#"{"event":"move","latitude":7,"longitude":800}"#, "longitude must be a number from -180 to 180"),
            (#"{"Event":"unlock"}"#, "Event isn't a member: do you mean event?"),
            (#"{"events":"unlock"}"#, "events isn't a member: do you mean event?"),
            (#"{event:"unlock"}"#, "the event can't be read: JSON refused at byte 1"),
            (
                #"{"event":"schedule","id":"a","content":{"title":"x"},"trigger":{"push":{}}}"#,
                "schedule, trigger has no member push"
            ),
            (#"{"event":"move","latitude":1}"#, "move needs longitude"),
            (
                #"{"event":"advance","by":"2h""#,
                "the event can't be read: JSON refused at byte 28: the text ends before"
            ),
            (#"{"by":"2h","event":"advance",}"#, "the event can't be read: JSON refused at byte 29"),
        ])
    func grammar(_ line: String, reason: String) throws {
        let output = try story.run([SimulatedStory.schedule("a"), "", line])
        #expect(output.exit == 64 && output.hasOneLineOnStderr, "\(output)")
        #expect(output.stderr.hasPrefix("pushcrypt: stdin, line 3: ") && output.stderr.contains(reason), "\(output)")
        // What happened before is printed.
        #expect(output.text.contains("a: banner, list, lockScreen"))
    }

    @Test(
        "an event that can't happen is a usage error with its line, its name and the names that there are",
        arguments: [
            (#"{"event":"tap","id":"tee"}"#, "tap: the screen is locked; unlock it first", "lock"),
            (#"{"event":"tap","id":"te"}"#, "tap: te: the notification isn't in the list; do you mean tea?", "unlock"),
            (
                #"{"event":"dismiss","id":"x9"}"#, "dismiss: x9: the notification isn't in the list; the list has tea",
                "lock"
            ),
            (
                #"{"event":"respond","id":"tea","action":"A"}"#,
                "respond: A: the notification shows no such action; it has no category, so the list of its actions is empty",
                "lock"
            ),
            (#"{"event":"foreground"}"#, "foreground: the screen is locked; unlock it first", "lock"),
            (#"{"event":"collapse","id":"te"}"#, "do you mean tea?", "lock"),
            (#"{"event":"expand","id":"te"}"#, "do you mean tea?", "lock"),
            (
                #"{"event":"openSettings"}"#,
                "openSettings: no button for the app's settings: the app must have asked for providesAppSettings when",
                "unlock"
            ),
            (#"{"event":"openSettings","id":"te"}"#, "do you mean tea?", "unlock"),
            (
                #"{"event":"setBadgeCount","count":1}"#,
                "setBadgeCount: the app isn't running; the events foreground and background start it", "restart"
            ),
            (
                #"{"event":"enterRegion","id":"home"}"#,
                "home: no scheduled notification has this region; the list of regions is empty", "lock"
            ),
        ])
    func impossible(_ line: String, reason: String, _ state: String) throws {
        let id = line.contains("tee") ? "tee" : "tea"
        let output = try story.run([SimulatedStory.schedule(id), SimulatedStory.event(state), line])
        #expect(output.exit == 64 && output.hasOneLineOnStderr, "\(output)")
        #expect(output.stderr.hasPrefix("pushcrypt: stdin, line 3: ") && output.stderr.contains(reason), "\(output)")
    }

    @Test("a phone can't enter the region that it is in, nor leave one that it isn't in")
    func regions() throws {
        let region = #""region":{"id":"office","latitude":47.37,"longitude":8.54,"radius":200},"repeats":true"#
        let lines = [SimulatedStory.schedule("a", #""title":"x""#, region)]
        for (name, other, reason) in [
            ("enterRegion", "leaveRegion", "is in the region already"),
            ("leaveRegion", "enterRegion", "isn't in the region"),
        ] {
            let event = SimulatedStory.event(name, #""id":"office""#)
            let output = try story.run(lines + [event, event])
            #expect(output.exit == 64 && output.stderr.contains("line 3: \(name): it \(reason)"), "\(output)")
            #expect(try story.run(lines + [event, SimulatedStory.event(other, #""id":"office""#)]).isSuccess)
        }
    }

    @Test("the Settings app doesn't list an app that hasn't asked, but previews and location belong to the phone")
    func settings() throws {
        let options = ["--authorization", "notDetermined"]
        let output = try story.run([SimulatedStory.event("settings", #""sounds":false"#)], options)
        #expect(output.exit == 64 && output.stderr.contains("the Settings app doesn't list the app"), "\(output)")
        let members = #""previews":"never","location":false"#
        #expect(try story.run([SimulatedStory.event("settings", members)], options).isSuccess)
    }

    @Test("a payload with a member event of its own is a push, and a line of a queue too") func payloads() throws {
        let push = try story.push()
        let objects = try story.objects(
            [#"{"aps":{"alert":"x"},"event":"order"}"#, #"{"payload":\#(push),"event":"order"}"#], exit: 65)
        #expect(objects.map { $0["number"] as? Int } == [1, 2] && objects[1].text("outcome") == "restored")
    }

    @Test("a payload that isn't JSON is refused by APNs, also if it has a member event of its own") func brokenPayload()
        throws
    {
        let objects = try story.objects([try story.push(), #"{"aps":{"alert":"x"},"event":"order""#], exit: 65)
        #expect(objects[1]["number"] as? Int == 2 && objects[1].text("outcome") == "refused")
    }

    @Test("an action with a text field needs a text, and another one takes none") func texts() throws {
        let categories = #"""
            [{"id":"CHAT","actions":[{"id":"REPLY","title":"Reply","textInput":{"buttonTitle":"Send"}},
             {"id":"MUTE","title":"Mute"}]}]
            """#
        try story.place.write(Data(categories.utf8), to: "c.json")
        for (members, reason) in [
            (#""action":"REPLY""#, "respond: the action has a text field, and needs a text"),
            (#""action":"MUTE","text":"x""#, "respond: the action has no text field, and takes no text"),
            (#""action":"MITE""#, "respond: MITE: the notification shows no such action; do you mean MUTE?"),
            (
                #""action":"X""#,
                "respond: X: the notification shows no such action; the list of its actions has REPLY, MUTE"
            ),
            (#""action":"REPLY","text":"""#, "respond: text must be a non-empty text"),
        ] {
            let event = SimulatedStory.event("respond", #""id":"a",\#(members)"#)
            let lines = [SimulatedStory.schedule("a", #""title":"x","category":"CHAT""#), event]
            let output = try story.run(lines, ["--categories", "c.json"])
            #expect(output.exit == 64 && output.stderr.contains("line 2: \(reason)"), "\(output)")
        }
    }

    @Test("an action that the notification doesn't show is refused with the reason") func noActions() throws {
        let categories = #"[{"id":"EXT","contentExtension":{"actions":[{"id":"PLAY","title":"Play"}]}},{"id":"NONE"}]"#
        try story.place.write(Data(categories.utf8), to: "c.json")
        let event = SimulatedStory.event("respond", #""id":"a","action":"PLAY""#)
        for (category, reason) in [
            ("CHTA", "--categories doesn't have its category CHTA, so the list of its actions is empty"),
            ("EXT", "until expand opens it, the list of its actions is empty"),
            ("NONE", "no such action; the list of its actions is empty"),
        ] {
            let lines = [SimulatedStory.schedule("a", #""title":"x","category":"\#(category)""#), event]
            let output = try story.run(lines, ["--categories", "c.json"])
            #expect(output.exit == 64 && output.stderr.contains(reason), "\(output)")
        }
    }

    @Test("an event beside a payload is ignored with a note, and another value of the member without one")
    func eventBesidePayload() throws {
        let push = try story.push()
        let ignored = try story.run([#"{"payload":\#(push),"event":"lock"}"#])
        let note = "line 1: the event lock is ignored, because a line with a payload is a push"
        #expect(ignored.exit == 0 && ignored.stderr.contains(note), "\(ignored)")
        #expect(try story.run([#"{"payload":\#(push),"event":"order"}"#]).stderr.isEmpty)
    }

    @Test("a page that isn't written because of a mistake is named") func noPage() throws {
        let output = try story.run([try story.push(), SimulatedStory.event("unlok")], ["--picture", "p.html"])
        #expect(output.exit == 64 && output.stderr.contains("p.html wasn't written"), "\(output)")
    }

    @Test("a line with a payload and a misspelt member that would have an effect is refused") func misspeltHeaders()
        throws
    {
        let line = #"{"payload":\#(try story.push()),"header":{"apns-topic":"com.wrong"}}"#
        expectRefusal(try story.run([line]), 65, saying: "line 1: header isn't a member: do you mean headers?")
    }

    @Test("an attachment that can't be read is an error of the tool, and one that doesn't exist is the app's")
    func unreadableAttachment() throws {
        func schedule(_ path: String) -> String {
            SimulatedStory.schedule("a", #""title":"x","attachments":["\#(path)"]"#)
        }
        try story.place.makeFolder("pictures")
        let folder = try story.run([schedule("pictures")])
        expectRefusal(folder, 65, saying: "pictures is a folder; a file is needed here")
        #expect(try story.objects([schedule("missing.png")])[0].object("error").text("code") == "invalidAttachment")
    }

    @Test("texts of events don't change the terminal") func control() throws {
        let output = try story.run([SimulatedStory.schedule(#"a\u001b[2J"#, #""title":"\u001b[31mred""#)])
        #expect(output.isSuccess && !output.text.contains("\u{1b}"), "\(output)")
        let refused = try story.run([SimulatedStory.event(#"\u001b[2J"#)])
        #expect(refused.exit == 64 && !refused.stderr.contains("\u{1b}"), "\(refused)")
    }
}
