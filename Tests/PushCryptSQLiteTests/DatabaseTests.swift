import Testing

@testable import PushCryptSQLite

@Suite struct DatabaseTests {
    @Test func version() { #expect(SQLiteVersion.number > 3_000_000) }
}
