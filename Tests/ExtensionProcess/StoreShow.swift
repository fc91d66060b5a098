import PushCryptExtension

/// `store-show FOLDER ID…`: claims each id as a session does, marks it as seen where it may be shown, and says `true` or
/// `false`.
enum StoreShow {
    static func run(_ arguments: [String]) throws {
        let store = SharedStore(folder: arguments[0], role: .extension)
        let time = UnixTime(1_800_000_000)
        for id in arguments.dropFirst() {
            let answer = try store.claim(id, issuedAt: time, expiresAt: time + 86_400, at: time)
            if case .success(let claim) = answer { try store.markSeen(claim) }
            say("\((try? answer.get()) != nil)")
        }
    }
}
