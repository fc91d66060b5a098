import PushCryptExtension

/// Members of `aps` and the content that they become.
struct ContentCase: Sendable, CustomStringConvertible {
    /// The members of `aps`, without braces.
    let aps: String
    let expected: NotificationContent

    var description: String { aps }

    init(_ aps: String, _ change: (inout NotificationContent) -> Void) {
        var content = NotificationContent()
        change(&content)
        (self.aps, expected) = (aps, content)
    }

    static let alerts = [
        ContentCase(#""alert":"Text""#) { $0.body = .init(literal: "Text") },
        ContentCase(#""alert":"é \ud83d\ude00 \n \u0000""#) { $0.body = .init(literal: "é 😀 \n \0") },
        ContentCase(#""alert":{"title":"T","subtitle":"S","body":"B"}"#) {
            ($0.title, $0.subtitle, $0.body) = (.init(literal: "T"), .init(literal: "S"), .init(literal: "B"))
        },
        ContentCase(#""alert":{"title-loc-key":"T","title-loc-args":["1","é"]}"#) {
            $0.title = .init(locKey: "T", locArguments: ["1", "é"])
        },
        ContentCase(#""alert":{"subtitle-loc-key":"S","subtitle-loc-args":["2"]}"#) {
            $0.subtitle = .init(locKey: "S", locArguments: ["2"])
        },
        ContentCase(#""alert":{"loc-key":"B","loc-args":[]}"#) { $0.body = .init(locKey: "B") },
        ContentCase(#""alert":{"body":"B","loc-key":"K","loc-args":["1",2,null,"3"]}"#) {
            $0.body = .init(literal: "B", locKey: "K", locArguments: ["1", "2", "", "3"])
        },
        ContentCase(#""alert":{"title-loc-key":"K","title-loc-args":[null,true,"3"]}"#) {
            $0.title = .init(locKey: "K", locArguments: ["", "true", "3"])
        },
        ContentCase(#""alert":{"subtitle":"S","subtitle-loc-key":"K","subtitle-loc-args":["1",["2"]]}"#) {
            $0.subtitle = .init(literal: "S")
        },
        ContentCase(#""alert":{"loc-key":"K","loc-args":[{"a":"1"}]}"#) { _ in },
        ContentCase(#""alert":{"loc-key":"","loc-args":["1"],"body":"B","title-loc-key":" ","title":"T"}"#) {
            ($0.title, $0.body) = (.init(literal: "T"), .init(literal: "B"))
        },
        ContentCase(#""alert":{"title":"","body":"B"}"#) {
            ($0.title, $0.body) = (.init(literal: ""), .init(literal: "B"))
        },
        // Wrong types are left out.
        ContentCase(#""alert":{"title":1,"subtitle":null,"body":["B"],"loc-key":true,"loc-args":"1"}"#) { _ in },
        ContentCase(#""alert":null"#) { _ in }, ContentCase(#""alert":["Text"]"#) { _ in },
        ContentCase(#""alert":5"#) { _ in },
    ]

    static let sounds = [
        ContentCase(#""sound":"default""#) { $0.sound = .init(name: "default") },
        ContentCase(#""sound":"chime.caf""#) { $0.sound = .init(name: "chime.caf") },
        ContentCase(#""sound":{"critical":1,"name":"alarm.caf","volume":0.5}"#) {
            $0.sound = .init(name: "alarm.caf", isCritical: true, volume: 0.5)
        },
        ContentCase(#""sound":{"critical":0,"name":"alarm.caf"}"#) { $0.sound = .init(name: "alarm.caf") },
        ContentCase(#""sound":{"critical":1}"#) { $0.sound = .init(name: "default", isCritical: true) },
        ContentCase(#""sound":{"name":"a","critical":true,"volume":"1"}"#) { $0.sound = .init(name: "a") },
        ContentCase(#""sound":{"name":"a","critical":2,"volume":1}"#) { $0.sound = .init(name: "a", volume: 1) },
        ContentCase(#""sound":{"name":"a","critical":1,"volume":7}"#) { $0.sound = .init(name: "a", isCritical: true) },
        ContentCase(#""sound":{}"#) { $0.sound = .init(name: "default") },
        ContentCase(#""sound":"""#) { _ in }, ContentCase(#""sound":null"#) { _ in },
        ContentCase(#""sound":1"#) { _ in }, ContentCase(#""sound":["a"]"#) { _ in },
    ]

    static let others = [
        ContentCase(#""badge":3"#) { $0.badge = 3 }, ContentCase(#""badge":0"#) { $0.badge = 0 },
        ContentCase(#""badge":7.0"#) { $0.badge = 7 }, ContentCase(#""badge":1e2"#) { $0.badge = 100 },
        ContentCase(#""badge":-1"#) { _ in },
        ContentCase(#""badge":1.5"#) { _ in }, ContentCase(#""badge":1e400"#) { _ in },
        ContentCase(#""badge":1e300"#) { _ in }, ContentCase(#""badge":"3""#) { _ in },
        ContentCase(#""badge":true"#) { _ in }, ContentCase(#""badge":null"#) { _ in },
        ContentCase(#""category":"MAIL""#) { $0.category = "MAIL" }, ContentCase(#""category":1"#) { _ in },
        ContentCase(#""thread-id":"t""#) { $0.threadID = "t" }, ContentCase(#""thread-id":null"#) { _ in },
        ContentCase(#""interruption-level":"time-sensitive""#) { $0.interruptionLevel = "time-sensitive" },
        ContentCase(#""interruption-level":2"#) { _ in },
        ContentCase(#""relevance-score":0.25"#) { $0.relevanceScore = 0.25 },
        ContentCase(#""relevance-score":1"#) { $0.relevanceScore = 1 },
        ContentCase(#""relevance-score":"1""#) { _ in },
        ContentCase(#""target-content-id":"window""#) { $0.targetContentID = "window" },
        ContentCase(#""target-content-id":{}"#) { _ in },
        ContentCase(#""content-available":1,"mutable-content":1,"url-args":["x"],"unknown":{}"#) { _ in },
        ContentCase(#""Badge":3,"threadId":"t","sounds":"a""#) { _ in }, ContentCase("") { _ in },
    ]
}
