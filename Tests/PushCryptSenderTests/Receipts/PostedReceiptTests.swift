import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite("receipts that devices post") struct PostedReceiptTests {
    private static let message = "BBBBBBBBBBBBBBBBBBBBBA"
    /// Computed by Python's hashlib.
    private static let name = "QYQ7oTAS2VrGRAnrYya3TfXBxZtdgvHP3H5T1cmMwdw"
    private static let random = "AAECAwQFBgcICQoLDA0ODw"

    private static func report(
        _ failure: FailureClass?, _ messageID: String?, pushID: String? = nil, isSelfTest: Bool = false,
        isSuppressed: Bool = false, skid: KeyID? = nil
    ) -> DeliveryReport {
        var report = DeliveryReport(
            failure: failure, isRestored: failure == nil, time: Channel.now, kid: KeyID("AAAAAAAAAAA"),
            messageID: messageID, pushID: pushID, isSelfTest: isSelfTest, isSuppressed: isSuppressed, stageFailures: [])
        report.skid = skid
        return report
    }

    static let reports: [DeliveryReport] = [
        report(nil, message), report(nil, message, pushID: "order-\"7\" & Zoë=😀+%\u{0}"),
        report(nil, message, isSelfTest: true), report(.attachmentFailed, message, pushID: "7"),
        report(.replayed, message, isSuppressed: true), report(.undecryptable, nil), report(.keyLocked, nil),
        report(.keyRevoked, nil, skid: KeyID("BBBBBBBBBBA")), report(nil, message, skid: KeyID("BBBBBBBBBBA")),
        report(FailureClass(rawValue: "app.own-class_1"), nil, isSelfTest: true, isSuppressed: true),
    ]

    @Test("what the extension posts is read as the same receipt, as JSON and as a form", arguments: reports)
    func posted(report: DeliveryReport) throws {
        let receipt = try Receipt(report)
        #expect(try Receipt(json: receipt.json) == receipt)
        #expect(try Receipt(form: FormFields.encode(receipt.json)) == receipt)
        #expect(receipt.skid == (report.failure == nil ? nil : report.skid))
        #expect(receipt.isSelfTest == report.isSelfTest && receipt.isSuppressed == report.isSuppressed)
    }

    @Test("a receipt is found by the id of its push, whether it was restored or failed after it was opened")
    func foundByName() throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#)
        let name = try #require(push.receiptName)
        for failure in [nil, .timedOut, .replayed] as [FailureClass?] {
            let receipt = try Receipt(json: Receipt(Self.report(failure, push.id, pushID: "7")).json)
            #expect(receipt.name == name)
        }
        #expect(try Receipt(json: Receipt(Self.report(.undecryptable, nil)).json).name == nil)
    }

    private static let opened: String = #"{"id":"\#(name)","push":"7","outcome":"opened","time":1800000000}"#
    private static let failed: String =
        #"{"id":"\#(name)-timedOut","push":"7","outcome":"timedOut","time":1800000000,"kid":"AAAAAAAAAAA","skid":"BBBBBBBBBBA","suppressed":true,"test":true}"#
    private static let unopened: String =
        #"{"id":"\#(random)","outcome":"unknownKey","time":1800000000,"kid":"AAAAAAAAAAA"}"#

    @Test(
        "the three kinds of receipts are read, also with unknown members and white space",
        arguments: [opened, failed, unopened])
    func forms(json: String) throws {
        let receipt = try Receipt(json: json.utf8)
        #expect(String(decoding: receipt.json, as: UTF8.self) == json)
        #expect(try Receipt(json: (" " + json.dropLast() + #", "x" : [1] } "#).utf8) == receipt)
        let form = String(decoding: FormFields.encode(Array(json.utf8)), as: UTF8.self)
        #expect(try Receipt(form: (form + "&x=1").utf8) == receipt)
    }

    @Test(
        "a JSON receipt that breaks a rule is malformed",
        arguments: [
            "", "x", "[]", "null", #""x""#, opened + "x", opened.replacing("}", with: #","time":1}"#),
            opened.replacing(#""id""#, with: #""x""#), opened.replacing(#""push""#, with: #""x""#),
            opened.replacing(#""outcome""#, with: #""x""#), opened.replacing(#""time""#, with: #""x""#),
            opened.replacing("1800000000", with: #""1800000000""#), opened.replacing("1800000000", with: "-1"),
            opened.replacing("1800000000", with: "1.0"), opened.replacing("1800000000", with: "9007199254740992"),
            opened.replacing(#""7""#, with: "7"), opened.replacing(#""7""#, with: "null"),
            opened.replacing("7", with: String(repeating: "x", count: 257)),
            opened.replacing(name, with: String(name.dropLast())), opened.replacing(name, with: name + "A"),
            opened.replacing(name, with: random), opened.replacing(name, with: name.dropLast() + "x"),
            opened.replacing(name, with: name + "-opened"), opened.replacing(#""opened""#, with: #""timedOut""#),
            opened.replacing(#""opened""#, with: "null"), opened.replacing(#""opened""#, with: #""""#),
            opened.replacing("}", with: #","kid":"AAAAAAAAAAA"}"#), opened.replacing("}", with: #","kid":""}"#),
            opened.replacing("}", with: #","skid":"AAAAAAAAAAA"}"#),
            failed.replacing("BBBBBBBBBBA", with: "BBBBBBBBBBB"),
            failed.replacing("BBBBBBBBBBA", with: ""), unopened.replacing("}", with: #","skid":null}"#),
            opened.replacing("}", with: #","suppressed":false}"#), opened.replacing("}", with: #","test":1}"#),
            opened.replacing("}", with: #","test":"true"}"#), failed.replacing("-timedOut", with: "-expired"),
            failed.replacing("-timedOut", with: ""), failed.replacing("-timedOut", with: "_timedOut"),
            failed.replacing("AAAAAAAAAAA", with: "AAAAAAAAAAB"), failed.replacing("AAAAAAAAAAA", with: "AAAA"),
            failed.replacing("timedOut", with: "timed out"),
            failed.replacing("timedOut", with: String(repeating: "x", count: 65)),
            unopened.replacing("}", with: #","push":"7"}"#), unopened.replacing("unknownKey", with: "opened"),
            unopened.replacing(random, with: random.dropLast()),
            unopened.replacing(random, with: random.dropLast() + "x"),
        ])
    func malformedJSON(json: String) { expectSenderError(.malformed, "\(json)") { try Receipt(json: json.utf8) } }

    private static let form: String = "id=\(name)&push=7&outcome=opened&time=1800000000"

    @Test(
        "a form that breaks a rule is malformed",
        arguments: [
            "", "&", "=", "id", form + "&", "&" + form, form + "&time=1", form + "&x", form + "&x=1=2", form + "&=1",
            form + "&x=%", form + "&x=%4", form + "&x=%4g", form + "&x=%FF", form + "&x=%C3", form + "&x=1&x=2",
            form + "&x=%ED%A0%80", form.replacing("time=", with: "x="),
            form.replacing("1800000000", with: "+1800000000"),
            form.replacing("1800000000", with: "01800000000"), form.replacing("1800000000", with: ""),
            form.replacing("1800000000", with: "1e9"), form + "&test=1", form + "&test=", form + "&suppressed=false",
            form.replacing("opened", with: "Opened"), form.replacing("id=", with: "ID="),
        ])
    func malformedForm(form: String) { expectSenderError(.malformed, "\(form)") { try Receipt(form: form.utf8) } }

    @Test("a receipt of 4,096 bytes and a push_id of 256 bytes are read, and a receipt of 4,097 bytes is malformed")
    func length() throws {
        let longID = Self.opened.replacing(#""7""#, with: "\"\(String(repeating: "x", count: 256))\"")
        #expect(try Receipt(json: longID.utf8).pushID?.utf8.count == 256)
        let spaces = String(repeating: " ", count: 4_096 - Self.opened.utf8.count)
        _ = try Receipt(json: (Self.opened + spaces).utf8)
        expectSenderError(.malformed) { try Receipt(json: (Self.opened + spaces + " ").utf8) }
        let letters = String(repeating: "y", count: 4_096 - Self.form.utf8.count - 3)
        _ = try Receipt(form: "\(Self.form)&x=\(letters)".utf8)
        expectSenderError(.malformed) { try Receipt(form: "\(Self.form)&x=\(letters)y".utf8) }
    }
}

@Suite("the version of the sender set that a device reports") struct ReportedSenderSetTests {
    private static let digest = String(repeating: "A", count: 43)
    private static let json: String = #"{"epoch":1,"seq":7,"digest":"\#(digest)"}"#

    @Test("it is read, and written as it was")
    func read() throws {
        let version = try SenderSetVersion(json: Self.json.utf8)
        #expect(version.epoch == 1 && version.sequence == 7 && version.digest == [UInt8](repeating: 0, count: 32))
        #expect(String(decoding: version.json, as: UTF8.self) == Self.json)
    }

    @Test(
        "another form is malformed",
        arguments: [
            "", "[]", "{}", json + "x", json.replacing("1", with: "-1"), json.replacing("7", with: "7.0"),
            json.replacing("7", with: "\"7\""), json.replacing(#""digest""#, with: #""x""#),
            json.replacing(digest, with: "AAAA"), json.replacing(digest, with: digest.dropLast() + "B"),
            json.replacing("{", with: #"{"epoch":1,"#), json + String(repeating: " ", count: 4_096),
        ])
    func malformed(json: String) { expectSenderError(.malformed) { try SenderSetVersion(json: json.utf8) } }
}
