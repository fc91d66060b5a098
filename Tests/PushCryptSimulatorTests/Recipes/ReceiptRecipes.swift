import PushCryptSimulator
import Testing

@Suite("receipts") struct ReceiptRecipes {
    private func phone(_ encoding: ReceiptPosting.Encoding) async throws -> TestDevice {
        try await TestDevice(topic: "com.example.app") { configuration, device in
            configuration.receipts = try ReceiptPosting(
                to: "https://api.example.com/receipts", transport: device.network, encoding: encoding,
                userAgent: "Example/1.0")
        }
    }

    @Test("the server learns by push_id that a push was shown, as a form and as JSON")
    func statistic() async throws {
        for (encoding, text) in [(.form, "push=m-17&outcome=opened"), (.json, #""push":"m-17","outcome":"opened""#)]
            as [(ReceiptPosting.Encoding, String)]
        {
            let phone = try await phone(encoding)
            _ = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"},"push_id":"m-17"}"#)
            let post = try #require(phone.device.network.posts.first)
            #expect(post.userAgent == "Example/1.0" && post.address == "https://api.example.com/receipts")
            #expect(String(decoding: post.body, as: UTF8.self).contains(text))
        }
    }

    @Test("a slow server doesn't delay the notification")
    func slowServer() async throws {
        let phone = try await phone(.form)
        let start = phone.device.clock.time
        phone.device.network.delay = .seconds(5)
        _ = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(phone.device.center.deliveredNotifications.map(\.time) == [start])
        #expect(phone.device.network.posts.count == 1 && phone.device.clock.time == start + 5)
    }

    @Test("a receipt that can't be sent waits for the app")
    func offline() async throws {
        let phone = try await phone(.json)
        phone.device.network.isOffline = true
        _ = try await phone.receive(sealed: #"{"aps":{"alert":"Hi"}}"#)
        #expect(try phone.store.receiptCount() == 1 && phone.device.network.posts.isEmpty)
        phone.device.network.isOffline = false
        phone.device.network.delay = .seconds(5)
        let posting = try ReceiptPosting(
            to: "https://api.example.com/receipts", transport: phone.device.network, timer: phone.device.clock)
        let sender = ReceiptSender(store: phone.store, posting: posting)
        // The app waits for the network, so the clock must move.
        let flush = try await phone.device.clock.run { try await sender.flush() }
        #expect(flush.sentCount == 1 && phone.device.clock.elapsed == .seconds(5))
    }
}
