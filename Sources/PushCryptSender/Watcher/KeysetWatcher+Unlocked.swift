package import Logging
package import PushCryptCore
package import PushCryptKeysets

extension KeysetWatcher {
    /// Watches a keyset that was read and unlocked before. While its file has the same bytes, neither scrypt nor the command
    /// that unwraps keys runs again.
    ///
    /// The parameters and errors are those of the public initialiser.
    package convenience init(
        _ place: KeysetPlace, _ unlocked: UnlockedKeyset, allowsDemoKeys: Bool, pollInterval: Duration = .seconds(1),
        logger: Logger, clock: @escaping @Sendable () -> UnixTime
    ) throws {
        let watched = WatchedKeyset(
            place: place, secret: unlocked.secret, allowsDemoKeys: allowsDemoKeys,
            allowsLowerSuite: unlocked.keyset.allowsLowerSuite, known: unlocked)
        try self.init(watched, pollInterval, logger: logger, clock: clock)
    }
}
