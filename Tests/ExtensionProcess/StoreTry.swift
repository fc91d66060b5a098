import PushCryptExtension

/// `store-try FOLDER ID [SECONDS]`: claims the id, marks it as seen where it may be shown, and counts it; says `true`,
/// `false`, or the error. It was issued so many seconds from now.
enum StoreTry {
    static func run(_ arguments: [String]) {
        let store = SharedStore(folder: arguments[0], role: .extension)
        let time = UnixTime(1_800_000_000)
        do {
            let issuedAt = time + (arguments.count > 2 ? Int64(arguments[2]) ?? 0 : 0)
            let message = MessageStamp(id: arguments[1], issuedAt: issuedAt, expiresAt: issuedAt + 86_400)
            let answer = try store.claimInFile(message, at: time.seconds)
            if case .success(let claim) = answer { try store.markSeenInFile(claim) }
            say("\((try? answer.get()) != nil)")
        } catch {
            say("\(error)")
        }
        let report = DeliveryReport(
            failure: nil, isRestored: true, time: time, kid: nil, messageID: arguments[1], pushID: nil,
            isSelfTest: false, stageFailures: [])
        store.report(report)
    }
}
