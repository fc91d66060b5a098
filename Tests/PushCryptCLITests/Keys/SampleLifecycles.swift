/// Lifecycle members of keys in a keyset's file: one key in each state at 2026-03-01, the destroyed one first.
enum SampleLifecycles {
    static let all = [destroyed, expired, retiring, revoked, primary, pending]
    static let states = ["destroyed", "expired", "retiring", "revoked", "primary", "pending"]

    static let destroyed = members([
        ("createdAt", "2025-03-08"), ("activatesAt", "2025-03-08"), ("retiresAt", "2025-06-13"),
        ("expiresAt", "2025-09-11"), ("destroyedAt", "2025-09-12"),
    ])
    static let expired = members([
        ("createdAt", "2025-06-06"), ("activatesAt", "2025-06-13"), ("retiresAt", "2025-09-11"),
        ("expiresAt", "2025-12-10"),
    ])
    static let retiring = members([
        ("createdAt", "2025-09-04"), ("activatesAt", "2025-09-11"), ("retiresAt", "2025-12-10"),
        ("expiresAt", "2026-03-10"),
    ])
    static let revoked = members([
        ("createdAt", "2025-10-20"), ("activatesAt", "2025-12-20"), ("revokedAt", "2025-11-15"),
        ("expiresAt", "2026-04-01"),
    ])
    static let primary = members([
        ("createdAt", "2025-12-03"), ("activatesAt", "2025-12-10"), ("retiresAt", "2026-03-10"),
        ("expiresAt", "2026-06-08"),
    ])
    static let pending = members([("createdAt", "2026-02-01"), ("activatesAt", "2026-03-10")])

    /// Members with these days at 09:00.
    static func members(_ days: [(String, String)]) -> String {
        days.map { name, day in "\"\(name)\": \"\(day)T09:00:00Z\"" }.joined(separator: ", ")
    }
}
