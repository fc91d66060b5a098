import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("the backend's answer to an upload") struct AnsweredUploadTests {
    private static let (start, day) = (UnixTime(1_800_000_000), Int64(86_400))

    /// - Parameter date: the header Date of the second answer, three days after the first one.
    /// - Returns: how many days of the first upload still have their key.
    private func keysLeft(date: String?) async throws -> Int {
        let folder = try TemporaryFolder()
        let keyring = FileKeyring(folder: folder.path + "/keys", period: .days(1))
        let now = Locked(Self.start)
        let (dates, kids) = (Locked<[String?]>([nil, date]), Locked<[[String]]>([]))
        let clock: @Sendable () -> UnixTime = { now.withLock { $0 } }
        let registration = PushRegistration(
            identity: DeviceIdentity(storage: keyring, clock: clock), folder: folder.path + "/group", clock: clock
        ) { upload in
            let record = try JSONText([UInt8](upload.record)).root
            let set = try #require(record["deviceSet"]?.string?.split(separator: ".", maxSplits: 1).last)
            let keys = try #require(try JSONText(Array(set.utf8)).root["keys"])
            kids.withLock { $0.append(keys.elements.compactMap { $0["kid"]?.string }) }
            let header = dates.withLock { $0.removeFirst() }.map { ["Date": $0] }
            let url = try #require(URL(string: "https://example.com"))
            let response = HTTPURLResponse(url: url, statusCode: 204, httpVersion: nil, headerFields: header)
            upload.answered(try #require(response))
        }
        _ = try await registration.register(deviceToken: Data([1]), account: "a")
        now.withLock { $0 = $0 + 3 * Self.day }
        _ = try await registration.register(deviceToken: Data([1]), account: "a")
        let text = try String(contentsOf: folder.file("keys/days.json"), encoding: .utf8)
        return kids.withLock { $0[0] }.filter { text.contains("\"kid\":\"\($0)\",\"of\"") }.count
    }

    @Test("its date erases the keys of days that are over; without it, or with an unreadable one, they stay")
    func date() async throws {
        #expect(try await keysLeft(date: "Mon, 18 Jan 2027 08:00:00 GMT") == 12)
        #expect(try await keysLeft(date: nil) == 14)
        #expect(try await keysLeft(date: "yesterday") == 14)
        #expect(try await keysLeft(date: "Fri, 15 Jan 2027 08:00:00 GMT") == 14)
    }
}
