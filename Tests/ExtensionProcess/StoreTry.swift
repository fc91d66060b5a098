import PushCryptExtension

/// `store-try FOLDER ID`: claims the id, marks it as seen and counts it; says `true`, `false`, or the error.
enum StoreTry {
    static func run(_ arguments: [String]) {
        let store = SharedStore(folder: arguments[0], role: .extension)
        let time = UnixTime(1_800_000_000)
        do {
            let isGranted = try store.claim(arguments[1], issuedAt: time, at: time)
            try store.markSeen(arguments[1])
            say("\(isGranted)")
        } catch {
            say("\(error)")
        }
        let report = DeliveryReport(
            failure: nil, isRestored: true, time: time, kid: nil, messageID: arguments[1], pushID: nil,
            isSelfTest: false, stageFailures: [])
        store.report(report)
    }
}
