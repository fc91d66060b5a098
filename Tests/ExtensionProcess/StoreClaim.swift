import PushCryptExtension

/// `store-claim FOLDER COUNT`: claims the ids 0, 1, … and says which it was granted.
enum StoreClaim {
    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2, let count = Int(arguments[1]) else { throw ExtensionProcess.Misuse() }
        let store = SharedStore(folder: arguments[0], role: .extension, configuration: .patient)
        let time = UnixTime(1_800_000_000)
        for number in 0..<count where try store.claim("\(number)", issuedAt: time, at: time) {
            say("\(number)")
        }
    }
}

extension SharedStore.Configuration {
    /// For a crowd on a slow disk.
    static var patient: Self {
        var configuration = Self()
        configuration.busyTimeout = .seconds(60)
        return configuration
    }
}
