import Foundation
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

struct DeviceFixture {
    let record: KeyRecord
    let folder: TemporaryFolder
    let clock: SimulatedClock

    init() throws {
        record = try .generate(.recipient, psk: true, backend: DefaultBackend.shared)
        folder = try TemporaryFolder()
        clock = SimulatedClock(startingAt: UnixTime(1_800_000_000))
    }
}

/// A suite whose tests seal to a device, and let it receive.
protocol DeviceSuite {
    var fixture: DeviceFixture { get }
}

extension DeviceSuite {
    static var topic: String { "com.example.app" }
    static var png: [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 20)
    }

    static func options(_ change: (inout SimulatedDevice.Options) -> Void) -> SimulatedDevice.Options {
        var options = SimulatedDevice.Options()
        change(&options)
        return options
    }

    var folder: TemporaryFolder { fixture.folder }
    var clock: SimulatedClock { fixture.clock }

    /// The seconds after the start at which the notifications were presented.
    func presentedSeconds(_ device: SimulatedDevice) -> [Int64] {
        device.center.presentations.map { $0.notification.time.seconds - 1_800_000_000 }
    }

    func seal(_ json: String = #"{"aps":{"alert":{"title":"Zoë","body":"Hi"}}}"#) throws -> [UInt8] {
        let recipient = try Recipient(Keyset.Entry(fixture.record.publicRecord(keepingPSK: true), KeyLifecycle()))
        let sealer = try Sealer(topic: Self.topic, clock: { [clock] in clock.time })
        let push = try sealer.seal(
            Array(json.utf8), to: recipient, placeholder: .literal(title: "New message", body: nil))
        return Array(push.json)
    }

    func device(
        _ options: SimulatedDevice.Options = .init(),
        _ change: @escaping @Sendable (inout ExtensionConfiguration, SimulatedDevice) -> Void = { _, _ in }
    ) async throws -> SimulatedDevice {
        let (record, path, topic) = (fixture.record, folder.path, Self.topic)
        let device = SimulatedDevice(topic: topic, clock: clock, options: options) { device in
            var configuration = try ExtensionConfiguration(
                topic: topic, keyring: KeysetKeyring(Keyset([Keyset.Entry(record, KeyLifecycle())])),
                senders: .unsigned, fallback: .outerAlert(orElse: .standard))
            configuration.store = SharedStore(folder: path + "/store", role: .extension)
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: path + "/attachments", plainMembers: ["image_url"]),
                transport: device.network, timer: device.clock)
            change(&configuration, device)
            return configuration
        }
        #expect(try await device.center.requestAuthorization([.alert, .sound, .badge]))
        return device
    }
}

struct Waiting: ContentStage {
    let clock: SimulatedClock
    let duration: Duration
    var timeLimit: Duration? { nil }

    func process(_ content: NotificationContent, of push: OpenedPush) async throws -> NotificationContent {
        var content = content
        try await clock.sleep(for: duration)
        content.title.literal = "late"
        return content
    }
}
