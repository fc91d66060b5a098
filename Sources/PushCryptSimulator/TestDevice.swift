import PushCryptCore
public import PushCryptExtension

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An installation of an app for the tests of a backend or of stages, without a device, a server or a file to keep:
///
/// ```swift
/// let phone = try await TestDevice(topic: "com.example.app")
/// let push = try sealer.seal(notification, to: Recipient(jwk: phone.registration), placeholder: .standard)
/// #expect(await phone.receive(push.json).content?.title.literal == "Zoë")
/// ```
/// It has keys, a store and an extension of its own, in a temporary folder that is removed with the object. Its user has allowed
/// notifications.
public final class TestDevice: Sendable {
    /// The registration record as the app uploads it, UTF-8 JSON: what your backend stores.
    public let registration: Data
    /// The device, with its clock, network and notification centre.
    public let device: SimulatedDevice
    /// The app's store, for its counters and `NotificationVerifier`.
    public let store: SharedStore
    private let folder: URL
    private let keyring: FileKeyring
    private let senders: SenderTrust

    /// Creates an installation.
    ///
    /// - Parameters:
    ///   - senders: whose pushes are opened. The default opens unsigned ones.
    ///   - plainMembers: the members of the sealed payload that name an attachment's address, such as `image_url`.
    ///   - avatarHosts: the hosts that pictures of senders are fetched from; see `AvatarFetcher`.
    ///   - clock: the time of device and APNs. Backends use the real time, so it is the default.
    ///   - configure: changes the configuration of the extension, for example its `stages`.
    /// - Throws: `KeyError` with `invalidTopic`; the system's error if the temporary folder can't be made.
    public init(
        topic: String, senders: SenderTrust = .unsigned, plainMembers: [String] = [],
        avatarHosts: Set<String> = [], clock: SimulatedClock = .startingNow(),
        options: SimulatedDevice.Options = .init(), calendar: GregorianCalendar = .gmt,
        configure: @escaping @Sendable (inout ExtensionConfiguration, SimulatedDevice) throws -> Void = { _, _ in }
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("TestDevice." + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        self.folder = folder
        let keyring = FileKeyring(folder: folder.path + "/keys")
        self.keyring = keyring
        self.senders = senders
        let identity = DeviceIdentity(storage: keyring, clock: { clock.time })
        let record = try identity.makeIfNeeded()
        try identity.confirmRegistered(record)
        registration = record.requestBody
        store = SharedStore(folder: folder.path + "/store", role: .app)
        let path = folder.path
        device = SimulatedDevice(
            topic: topic, clock: clock, options: options,
            center: SimulatedNotificationCenter(clock, calendar: calendar)
        ) { device in
            var configuration = try ExtensionConfiguration(
                topic: topic, keyring: keyring, senders: senders, fallback: .outerAlert(orElse: .standard))
            configuration.store = SharedStore(folder: path + "/store", role: .extension)
            configuration.attachments = AttachmentStage(
                configuration: .init(folder: path + "/attachments", plainMembers: plainMembers),
                transport: device.network)
            configuration.offload = OffloadFetcher(transport: device.network)
            configuration.avatars = AvatarFetcher(
                folder: path + "/avatars", hosts: avatarHosts, transport: device.network)
            try configure(&configuration, device)
            return configuration
        }
        // Checked here, because an extension that can't be configured shows only a placeholder.
        _ = try Topic(topic)
        _ = try await device.center.requestAuthorization([.alert, .sound, .badge])
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Receives the body of a request to APNs, and returns what became of it.
    ///
    /// - Parameter headers: those of an alert for this app if nil.
    public func receive(_ payload: Data, _ headers: PushHeaders? = nil) async -> SimulatedDevice.Reception {
        await device.receive([UInt8](payload), headers)
    }

    /// The report that the app makes for `pushcrypt diagnose`, by the device's clock.
    public var report: DeviceReport {
        var report = DeviceReport(topic: device.topic, keys: keyring, senders: senders, store: store, at: device.time)
        report.allowsAlerts = device.center.currentSettings.showsAlerts
        return report
    }
}
